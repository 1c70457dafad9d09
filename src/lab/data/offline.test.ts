import { expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { SCORED, TABLED } from "../simulate/world.fixture.ts";
import type { Dataset } from "./dataset.ts";
import { takeOffline } from "./offline.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);
const texts = (dataset: Dataset): Dataset => ({
  ...dataset,
  queries: dataset.queries.map((query) => ({ ...query, text: `text ${query.id}` })),
});

it("takes the given number per category, all of a small one, and holds out the rest", () => {
  const { offline, heldOut, members } = takeOffline(texts(TABLED), 5, Random.seeded(1));
  expect(offline.categories).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1]);
  expect(offline.texts).toEqual(offline.ids.map((id) => `text ${id}`));
  expect(heldOut.categories).toEqual([0]);
  const all = [...offline.texts, ...heldOut.texts].sort();
  expect(all).toEqual(texts(TABLED).queries.map(({ text }) => text));
  expect(offline.categoryNames).toEqual(["x", "y"]);
  expect(members.flat().map(String)).toEqual(offline.ids);
  const again = takeOffline(texts(TABLED), 5, Random.seeded(1));
  expect(again.offline).toEqual(offline);
  expect(takeOffline(texts(TABLED), 5, Random.seeded(2)).offline.ids).not.toEqual(offline.ids);
});

it("has the table's scores and costs, and its best model for each query", () => {
  const { offline } = takeOffline(TABLED, 1, Random.seeded(1));
  expect(offline.scores).toEqual(TABLED.scores!.perf);
  expect(offline.costs).toEqual(TABLED.scores!.cost);
  expect(offline.best).toEqual([[0], [2]]);
});

it("without a table or categories, groups queries by best model and takes means over the offline queries", () => {
  const { offline } = takeOffline(SCORED, 2, Random.seeded(1));
  // Model a is best on the first six, and the third model on query 9: 0.9 beats 0.5.
  expect(offline.categoryNames).toEqual(["a", "c"]);
  expect(offline.best).toEqual([[0], [0], [2], [2]]);
  const [first, second] = offline.ids.slice(2).map(Number);
  expect(offline.scores[2]).toEqual(at(0, (first! / 10 + second! / 10) / 2));
  const mean =
    (offline.ids.slice(0, 2).map(Number) as [number, number]).reduce((a, b) => a + b) / 2;
  expect(offline.costs![0]![0]).toBe(mean);
  const { costs: _, ...free } = SCORED.queries[0]!;
  const mixed = { ...SCORED, queries: [free, ...SCORED.queries.slice(1)] };
  expect(takeOffline(mixed, 2, Random.seeded(1)).offline.costs).toBeUndefined();
});
