import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeWithPublicData, publicData } from "../../lab/data/real-data.fixture.ts";
import { Random } from "../random/random.ts";
import { batchesOf, type Pair, pairsOf } from "./pairs.ts";

const SEVEN_BY_FIVE = Array.from({ length: 35 }, (_, i) => Math.floor(i / 5));
const key = ({ a, b, label }: Pair) => `${a},${b},${label}`;

describe("pairsOf", () => {
  it("returns every pair within a category and as many across, none twice, with the right labels", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 20 }),
        (categories) => {
          const pairs = pairsOf(categories, Random.seeded(1));
          const near = pairs.filter(({ label }) => label === 1);
          const apart = pairs.length - near.length;
          const sizes = [0, 1, 2, 3, 4].map((m) => categories.filter((c) => c === m).length);
          const within = sizes.reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
          const all = (categories.length * (categories.length - 1)) / 2;
          expect(near.length).toBe(within);
          expect(apart).toBe(Math.min(within, all - within));
          expect(new Set(pairs.map(key)).size).toBe(pairs.length);
          for (const { a, b, label } of pairs) {
            expect(a).toBeLessThan(b);
            expect(categories[a] === categories[b]).toBe(label === 1);
          }
        },
      ),
      { seed: 1 },
    );
  });

  it("draws the pairs across categories from all of them, with the generator only", () => {
    const draw = (seed: number) => pairsOf(SEVEN_BY_FIVE, Random.seeded(seed)).map(key);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    const seen = new Set(Array.from({ length: 60 }, (_, seed) => draw(seed)).flat());
    expect(seen.size).toBe((35 * 34) / 2);
  });
});

describe("batchesOf", () => {
  it("returns all pairs once, shuffled by the generator, with a smaller last batch", () => {
    const pairs = pairsOf(SEVEN_BY_FIVE, Random.seeded(1));
    const epoch = (n: number) => batchesOf(pairs, 16, Random.seeded(1).split(n));
    expect(epoch(0).map((batch) => batch.length)).toEqual([...Array(8).fill(16), 12]);
    expect(epoch(0).flat().map(key).sort()).toEqual(pairs.map(key).sort());
    expect(epoch(0)).toEqual(epoch(0));
    expect(epoch(0)).not.toEqual(epoch(1));
  });
});

describeWithPublicData("the golden run", () => {
  it("has the same counts as the golden run: 4 epochs of the same pairs in 9 steps each", () => {
    const file = publicData("../fixtures/ccft/trajectory.json");
    const { batches } = JSON.parse(readFileSync(file, "utf8")) as {
      batches: [number, number, 0 | 1][][];
    };
    const pairs = pairsOf(SEVEN_BY_FIVE, Random.seeded(1));
    const own = [0, 1, 2, 3].flatMap((n) => batchesOf(pairs, 16, Random.seeded(n)));
    expect(own.map((batch) => batch.length)).toEqual(batches.map((batch) => batch.length));
    const golden = batches.slice(0, 9).flat();
    const near = (label: number) => label === 1;
    expect(golden.filter(([, , label]) => near(label)).length).toBe(70);
    expect(pairs.filter(({ label }) => near(label)).length).toBe(70);
    const positives = golden.filter(([, , label]) => near(label)).map(String);
    expect(
      pairs
        .filter(({ label }) => near(label))
        .map(key)
        .sort(),
    ).toEqual(positives.sort());
    expect(new Set(batches.flat().map(String)).size).toBe(140);
  });
});
