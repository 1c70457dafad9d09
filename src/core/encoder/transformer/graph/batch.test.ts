import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tinyArchitecture } from "../model/tiny-model.fixture.ts";
import { cutByLength, packTexts } from "./batch.ts";

describe("cutByLength", () => {
  const cases = fc
    .array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 })
    .chain((lengths) =>
      fc.tuple(fc.constant(lengths), fc.integer({ min: 1, max: lengths.length })),
    );

  it("puts every text into one group, whose length is that of its longest text", () => {
    fc.assert(
      fc.property(cases, ([lengths, groups]) => {
        const cut = cutByLength(lengths, groups);
        expect(cut).toHaveLength(groups);
        expect(cut.flatMap(({ texts }) => texts).sort((a, b) => a - b)).toEqual([
          ...lengths.keys(),
        ]);
        for (const { texts, tokens } of cut) {
          expect(tokens).toBe(Math.max(...texts.map((k) => lengths[k]!)));
        }
      }),
      { seed: 1 },
    );
  });

  it("finds the split of the sorted texts with the least padding", () => {
    fc.assert(
      fc.property(cases, ([lengths, groups]) => {
        const cut = cutByLength(lengths, groups);
        const padded = cut.reduce((sum, { texts, tokens }) => sum + texts.length * tokens, 0);
        const sorted = lengths.toSorted((a, b) => a - b);
        expect(padded).toBe(Math.min(...allCuts(sorted, groups)));
      }),
      { seed: 1 },
    );
  });

  /** Returns the cost of every possible split. */
  function allCuts(sorted: readonly number[], groups: number): number[] {
    if (groups === 1) return [sorted.length * sorted.at(-1)!];
    return Array.from({ length: sorted.length - groups + 1 }, (_, i) => i + 1).flatMap((first) =>
      allCuts(sorted.slice(first), groups - 1).map((rest) => rest + first * sorted[first - 1]!),
    );
  }
});

describe("packTexts", () => {
  it("counts BERT's positions from 0, and MPNet's from padTokenId + 1 without padding", () => {
    const positions = (kind: "bert" | "mpnet") => {
      const options = { architecture: tinyArchitecture(kind), pooling: "mean", groups: 1 } as const;
      return [...packTexts([[2, 1, 5, 1, 6]], options).get("positions")!.data];
    };
    expect(positions("bert")).toEqual([0, 1, 2, 3, 4]);
    expect(positions("mpnet")).toEqual([2, 1, 3, 1, 4]);
  });

  it("masks padding and excludes it from the mean", () => {
    const options = { architecture: tinyArchitecture("bert"), pooling: "mean", groups: 1 } as const;
    const feeds = packTexts(
      [
        [4, 5, 6, 7],
        [8, 9],
      ],
      options,
    );
    expect(feeds.get("mask.0")!.dims).toEqual([2, 4]);
    // The shorter text comes first in its group, but the rows of `pool` keep the order of the texts.
    expect([...feeds.get("mask.0")!.data]).toEqual([0, 0, -1e9, -1e9, 0, 0, 0, 0]);
    expect([...feeds.get("ids")!.data]).toEqual([8, 9, 4, 4, 4, 5, 6, 7]);
    expect([...feeds.get("pool")!.data]).toEqual([
      ...[0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25],
      ...[0.5, 0.5, 0, 0, 0, 0, 0, 0],
    ]);
  });
});
