import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import { Graph } from "./graph.ts";
import { int8Dense } from "./int8.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

/** x W^T + b by `int8Dense`, row by row. */
async function dense(x: number[][], W: number[][], b: number[]): Promise<number[][]> {
  const [rows, columns] = [x[0]!.length, b.length];
  const weights = new Map([
    ["layer.weight", { dims: [columns, rows], data: Float32Array.from(W.flat()) }],
    ["layer.bias", { dims: [columns], data: Float32Array.from(b) }],
  ]);
  const graph = new Graph();
  const input = graph.input("x", "float32", ["N", rows]);
  graph.output("y", int8Dense(weights)(graph, input, "layer"));
  const feed = { dims: [x.length, rows], data: Float32Array.from(x.flat()) };
  const y = (await runInOnnxruntime(graph, new Map([["x", feed]]))).get("y")!;
  return x.map((_, i) => [...y.subarray(i * columns, (i + 1) * columns)]);
}

function matrix(random: Random, rows: number, columns: number, scale = 1): number[][] {
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.fround(scale * random.normal())),
  );
}

const largest = (row: number[]) => Math.max(...row.map(Math.abs));

describe("a dense layer in 8 bits", () => {
  it("is off by no more than half a step of each factor", async () => {
    const sizes = fc.tuple(...[9, 20, 9].map((max) => fc.integer({ min: 1, max })));
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), async ([N, K, M], seed) => {
        const random = Random.seeded(seed);
        // Tokens of very unlike size: each has a scale of its own.
        const x = Array.from({ length: N! }, (_, i) => matrix(random, 1, K!, 10 ** (i - 4))[0]!);
        const W = matrix(random, M!, K!);
        const b = matrix(random, 1, M!)[0]!;
        const y = await dense(x, W, b);
        for (const [i, row] of x.entries()) {
          const s = largest(row) / 127;
          for (const [j, w] of W.entries()) {
            const t = largest(w) / 127;
            let exact = b[j]!;
            let bound = 1e-6;
            for (const [k, xk] of row.entries()) {
              exact += xk * w[k]!;
              bound += (s / 2) * Math.abs(w[k]!) + (t / 2) * Math.abs(xk) + (s * t) / 4;
            }
            expect(Math.abs(y[i]![j]! - exact)).toBeLessThanOrEqual(bound * 1.001);
          }
        }
      }),
      { seed: 1, numRuns: 40 },
    );
  });

  it("gives a token the same numbers, bit for bit, in any company", async () => {
    const random = Random.seeded(2);
    const [x, W, b] = [matrix(random, 40, 96), matrix(random, 33, 96), matrix(random, 1, 33)[0]!];
    const together = await dense(x, W, b);
    const loud = x.map((row, i) => (i === 7 ? row : row.map((value) => 1000 * value)));
    expect((await dense(loud, W, b))[7]).toEqual(together[7]);
    expect(await dense([x[7]!], W, b)).toEqual([together[7]]);
  });

  it("a token of zeros and an output without weights have the bias alone", async () => {
    const random = Random.seeded(3);
    const x = [[0, 0, 0], ...matrix(random, 1, 3)];
    const y = await dense(x, [[0, 0, 0], ...matrix(random, 1, 3)], [1, 2]);
    expect(y[0]).toEqual([1, 2]);
    expect(y[1]![0]).toBe(1);
  });
});
