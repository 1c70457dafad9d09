import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { largest, Memory, voteAt } from "./memory.ts";

const D = 5;

/** Vote i has offset i, which identifies it. */
function filled(count: number, capacity = 1000): { memory: Memory; queries: Float64Array[] } {
  const random = Random.seeded(1);
  const memory = new Memory(D, capacity);
  const queries = Array.from({ length: count }, () =>
    Float64Array.from({ length: D }, () => random.normal()),
  );
  queries.forEach((x, i) => {
    memory.add(x, { a: i % 3, b: (i + 1) % 3, win: 1, weight: 1 }, i);
  });
  return { memory, queries };
}

describe("Memory", () => {
  it("finds the nearest queries by cosine, in the order of their votes", () => {
    const { memory, queries } = filled(200);
    const x = Float64Array.from([3, -1, 0, 2, 0.5]);
    const cosine = (q: Float64Array) =>
      q.reduce((sum, value, i) => sum + value * x[i]!, 0) / Math.hypot(...q) / Math.hypot(...x);
    const expected = queries
      .map((q, i) => ({ i, cosine: cosine(q) }))
      .sort((p, q) => q.cosine - p.cosine)
      .slice(0, 17)
      .map(({ i }) => i)
      .sort((p, q) => p - q);
    expect([...memory.nearest(x, 17).offset]).toEqual(expected);
    const all = memory.similarities(x);
    queries.forEach((q, i) => {
      expect(all[i]).toBeCloseTo(cosine(q), 12);
    });
  });

  it("returns all votes if there are fewer than requested", () => {
    const { memory, queries } = filled(3);
    expect(memory.nearest(queries[0]!, 10).size).toBe(3);
  });

  it("keeps the most recent votes, between half of its capacity and all of it", () => {
    const { memory } = filled(205, 50);
    expect(memory.size).toBeGreaterThanOrEqual(25);
    expect(memory.size).toBeLessThanOrEqual(50);
    for (let i = 0; i < memory.size; i++) {
      expect(voteAt(memory, i).offset).toBe(205 - memory.size + i);
    }
  });

  it("restores the votes between models that stay, with their new indices", () => {
    const { memory } = filled(6);
    const next = new Memory(D, 100);
    next.restore(structuredClone(memory.snapshot()), ["ada", "bob", "cyd"], ["eve", "cyd", "ada"]);
    // Votes 2 and 5 are those of cyd against ada.
    expect(next.size).toBe(2);
    expect(voteAt(next, 1)).toEqual({ a: 1, b: 2, win: 1, weight: 1, offset: 5 });
    expect(next.x.subarray(0, D)).toEqual(memory.x.subarray(2 * D, 3 * D));
  });
});

describe("largest", () => {
  it("agrees with sorting", () => {
    const numbers = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 40 });
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 10 }), (values, n) => {
        const sorted = [...values.keys()].sort((p, q) => values[q]! - values[p]! || p - q);
        const expected = sorted.slice(0, n).sort((p, q) => p - q);
        expect(largest(Float64Array.from(values), n)).toEqual(expected);
      }),
      { seed: 1 },
    );
  });
});
