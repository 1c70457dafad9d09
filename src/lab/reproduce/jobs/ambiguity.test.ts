import { expect, it } from "vitest";
import type { Query, StoredVerdict } from "../../data/dataset.ts";
import { ambiguity, dropAmbiguous } from "./ambiguity.ts";

const of = (...verdicts: [number, number, StoredVerdict["outcome"]][]): Query => ({
  id: "",
  text: "",
  category: -1,
  comparisons: verdicts.map(([a, b, outcome]) => ({ a, b, outcome })),
});

it("is the share of pairs without an agreed winner", () => {
  expect(ambiguity(of([0, 1, "a"], [1, 0, "b"]))).toBe(0); // both orders name 0
  expect(ambiguity(of([0, 1, "a"], [1, 0, "a"]))).toBe(1); // each order the first
  expect(ambiguity(of([0, 1, "a"], [1, 0, "tie"]))).toBe(1);
  expect(ambiguity(of([0, 1, "both_bad"], [0, 2, "a"], [1, 2, "b"]))).toBe(1 / 3);
  expect(ambiguity({})).toBe(0);
});

it("drops the most ambiguous share and keeps the order of the rest", () => {
  const sure = of([0, 1, "a"]);
  const open = of([0, 1, "tie"]);
  const queries = [open, sure, open, sure].map((query, i) => ({ ...query, id: String(i) }));
  const ids = (share: number) => dropAmbiguous(queries, share).map(({ id }) => id);
  expect(ids(0)).toEqual(["0", "1", "2", "3"]);
  expect(ids(0.3)).toEqual(["0", "1", "3"]);
  expect(ids(0.5)).toEqual(["1", "3"]);
  expect(ids(0.8)).toEqual(["1"]);
});
