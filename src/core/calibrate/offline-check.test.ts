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

it("takes what has pairs, and by best model also one alone", () => {
  checkOffline("data", queries(2, 5), false);
  checkOffline("data", queries(1, 2, 1), true);
});

it.each<[string, number[], boolean, RegExp]>([
  ["one query of a category", [5, 1], false, /^data: field "category": "c1" has one query only/],
  ["one category", [5], false, /is "c0" throughout, so there is nothing to tell apart; hint:/],
  ["no pairs at all", [1, 1, 1], true, /one by one, so there are no pairs; hint:/],
  ["days of training", [2000, 2], false, /^--offline: makes 1999001 pairs .*; hint: lower it/],
])("refuses %s", (_, sizes, byBest, message) => {
  const check = () => checkOffline("data", queries(...sizes), byBest);
  expect(check).toThrow(InputError);
  expect(check).toThrow(errorText(message));
});
