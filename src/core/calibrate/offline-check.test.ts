import { expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { InputError } from "../input/input-error.ts";
import type { OfflineQueries } from "./calibrate.ts";
import { checkOffline } from "./offline-check.ts";

function queries(...sizes: number[]): OfflineQueries {
  const categories = sizes.flatMap((size, m) => Array<number>(size).fill(m));
  return {
    categories,
    categoryNames: sizes.map((_, m) => `c${m}`),
    texts: [],
    ids: [],
    best: [],
    models: [],
    scores: [],
  };
}

it("accepts queries with pairs, and single queries if they are grouped by best model", () => {
  checkOffline("data", queries(2, 5), false);
  checkOffline("data", queries(1, 2, 1), true);
});

it.each<[string, number[], boolean, RegExp]>([
  ["one query of a category", [5, 1], false, /^data: field "category": "c1" has only one query/],
  [
    "one category",
    [5],
    false,
    /is "c0" for all queries, but fine-tuning needs several categories; hint:/,
  ],
  [
    "no pairs at all",
    [1, 1, 1],
    true,
    /differs for every query, so there are no pairs within a category; hint:/,
  ],
  ["days of training", [2000, 2], false, /^--offline: gives 1999001 pairs .*; hint: lower it/],
])("rejects %s", (_, sizes, byBest, message) => {
  const check = () => checkOffline("data", queries(...sizes), byBest);
  expect(check).toThrow(InputError);
  expect(check).toThrow(errorText(message));
});
