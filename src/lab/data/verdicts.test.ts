import fc from "fast-check";
import { expect, it } from "vitest";
import type { StoredVerdict } from "./dataset.ts";
import { fillMeans, verdictScores } from "./verdicts.ts";

const K = 5;
const verdict: fc.Arbitrary<StoredVerdict> = fc
  .record({
    a: fc.integer({ min: 0, max: K - 1 }),
    b: fc.integer({ min: 0, max: K - 1 }),
    outcome: fc.constantFrom("a" as const, "b" as const, "tie" as const, "both_bad" as const),
  })
  .filter(({ a, b }) => a !== b);
const verdicts = fc.array(verdict, { minLength: 1, maxLength: 30 });

it("the best utility is 1, none is below 0, and NaN means never compared", () => {
  fc.assert(
    fc.property(verdicts, (list) => {
      const scores = verdictScores(list, K);
      const compared = new Set(list.flatMap(({ a, b }) => [a, b]));
      const known = [...scores.keys()].filter((k) => !Number.isNaN(scores[k]!));
      expect(new Set(known)).toEqual(compared);
      expect(Math.max(...known.map((k) => scores[k]!))).toBe(1);
      expect(Math.min(...known.map((k) => scores[k]!))).toBeGreaterThanOrEqual(0);
    }),
    { seed: 1 },
  );
});

it("neither the order of a pair nor of the list matters, and both_bad is a tie", () => {
  const flip = { a: "b", b: "a", tie: "both_bad", both_bad: "tie" } as const;
  fc.assert(
    fc.property(verdicts, (list) => {
      const turned = list.map(({ a, b, outcome }) => ({ a: b, b: a, outcome: flip[outcome] }));
      expect(verdictScores(turned.reverse(), K)).toEqual(verdictScores(list, K));
    }),
    { seed: 2 },
  );
});

it("only a Condorcet winner is on top", () => {
  fc.assert(
    fc.property(verdicts, (list) => {
      const winner = slowCondorcetWinner(list);
      fc.pre(winner !== undefined);
      const scores = verdictScores(list, K);
      expect(scores[winner]).toBe(1);
      for (const [k, score] of scores.entries()) if (k !== winner) expect(score).not.toBe(1);
    }),
    { seed: 3, numRuns: 200 },
  );
});

it("utility is (wins + 0.5 ties, + 0.5 for the Condorcet winner) / comparisons, divided by the largest", () => {
  const list: StoredVerdict[] = [
    { a: 0, b: 1, outcome: "a" }, // 0 beats 1 and 2: (2 + 0.5) / 2
    { a: 2, b: 0, outcome: "b" },
    { a: 1, b: 2, outcome: "tie" }, // 1 and 2: 0.5 / 2
  ];
  expect(verdictScores(list, 3)).toEqual(Float64Array.of(1, 0.2, 0.2));
  // Model 1 beats model 2 twice more: 0 is still on top, 1 has 2.5 of 4.
  const more: StoredVerdict[] = [
    ...list,
    { a: 1, b: 2, outcome: "a" },
    { a: 1, b: 2, outcome: "a" },
  ];
  expect(verdictScores(more, 3)).toEqual(Float64Array.of(1, 0.5, 0.1));
});

it("a Condorcet winner that is second by points is raised above the first", () => {
  const list: StoredVerdict[] = [
    { a: 0, b: 1, outcome: "a" },
    { a: 1, b: 0, outcome: "tie" }, // 0 beats 1 narrowly: 1.5 of 2
    { a: 0, b: 2, outcome: "a" },
    { a: 2, b: 0, outcome: "tie" }, // and 2: 3 of 4 in all
    ...Array.from({ length: 8 }, () => ({ a: 1, b: 2, outcome: "a" as const })), // 1: 8.5 of 10
  ];
  const scores = verdictScores(list, 3);
  expect(scores[0]).toBe(1);
  expect(scores[1]).toBeCloseTo(0.85 / (0.85 + 0.5 / 4), 12);
});

it("a model that was not compared with all others is no Condorcet winner", () => {
  const list: StoredVerdict[] = [
    { a: 0, b: 1, outcome: "a" },
    { a: 2, b: 1, outcome: "a" },
  ];
  expect(verdictScores(list, 3)).toEqual(Float64Array.of(1, 0, 1));
});

it("fills scores that were never compared with the model's mean over queries", () => {
  const scores = [
    Float64Array.of(1, Number.NaN),
    Float64Array.of(0, 0.5),
    Float64Array.of(Number.NaN, 1),
  ];
  fillMeans(scores, 2);
  expect(scores).toEqual([
    Float64Array.of(1, 0.75),
    Float64Array.of(0, 0.5),
    Float64Array.of(0.5, 1),
  ]);
});

/** The definition: the model that beats each compared model more often than it loses to it. */
function slowCondorcetWinner(list: readonly StoredVerdict[]): number | undefined {
  const compared = [...new Set(list.flatMap(({ a, b }) => [a, b]))];
  const wins = (i: number, j: number) =>
    list.filter(
      ({ a, b, outcome }) =>
        (a === i && b === j && outcome === "a") || (a === j && b === i && outcome === "b"),
    ).length;
  return compared.find((i) => compared.every((j) => i === j || wins(i, j) > wins(j, i)));
}
