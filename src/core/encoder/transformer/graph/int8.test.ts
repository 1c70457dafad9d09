import fc from "fast-check";
import { expect, it } from "vitest";
import { Random } from "../../../random/random.ts";
import { tinyArchitecture, tinyWeights } from "../model/tiny-model.fixture.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { Graph } from "./graph.ts";
import { toInt8 } from "./int8.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

type Matrix = number[][];

interface Layer {
  readonly W: Matrix;
  readonly b: number[];
}

/** Computes x W^T + b of every layer in 8 bits. */
async function dense(x: Matrix, layers: readonly Layer[]): Promise<Matrix[]> {
  const depth = x[0]!.length;
  const graph = new Graph();
  const input = graph.input("x", "float32", ["N", depth]);
  for (const [l, { W, b }] of layers.entries()) {
    const weight = graph.constant({ dims: [b.length, depth], data: Float32Array.from(W.flat()) });
    const bias = graph.constant({ dims: [b.length], data: Float32Array.from(b) });
    graph.output(`y${l}`, graph.gemm(input, weight, bias, { transB: true }));
  }
  const feed = { dims: [x.length, depth], data: Float32Array.from(x.flat()) };
  const results = await runInOnnxruntime(toInt8(graph), new Map([["x", feed]]));
  return layers.map(({ b: { length } }, l) => {
    const y = results.get(`y${l}`)!;
    return x.map((_, i) => [...y.subarray(i * length, (i + 1) * length)]);
  });
}

function matrix(random: Random, rows: number, columns: number): Matrix {
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.fround(random.normal())),
  );
}

it("has an error of at most one step of X and half a step of W", async () => {
  const sizes = fc.tuple(...[9, 20, 9, 9].map((max) => fc.integer({ min: 1, max })));
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), async ([N, depth, ...widths], seed) => {
      const random = Random.seeded(seed);
      const x = matrix(random, N!, depth!);
      // Two layers with the same x become one product.
      const layers = widths.map((width) => ({
        W: matrix(random, width, depth!),
        b: matrix(random, 1, width)[0]!,
      }));
      const y = await dense(x, layers);
      const s = (Math.max(0, ...x.flat()) - Math.min(0, ...x.flat())) / 255;
      for (const [l, { W, b }] of layers.entries()) {
        for (const [j, w] of W.entries()) {
          const t = Math.max(...w.map(Math.abs)) / 64;
          for (const [i, row] of x.entries()) {
            let exact = b[j]!;
            let bound = 1e-6;
            for (const [k, xk] of row.entries()) {
              exact += xk * w[k]!;
              bound += s * Math.abs(w[k]!) + (t / 2) * Math.abs(xk) + (s * t) / 2;
            }
            expect(Math.abs(y[l]![i]![j]! - exact)).toBeLessThanOrEqual(bound * 1.001);
          }
        }
      }
    }),
    { seed: 1, numRuns: 40 },
  );
});

it("is exact for numbers that are whole steps, maximum and minimum included", async () => {
  const x = [
    [0, 255, 7],
    [64, 0, 128],
  ];
  const W = [
    [64, -64, 1],
    [-3, 64, 0],
  ];
  const exact = x.map((row) => W.map((w) => row.reduce((sum, xk, k) => sum + xk * w[k]!, 10)));
  expect(await dense(x, [{ W, b: [10, 10] }])).toEqual([exact]);
});

it("an output with zero weights is the bias, and so is every output if x is 0", async () => {
  const W = [
    [0, 0],
    [1, 2],
  ];
  const b = [5, 6];
  const [y] = await dense([[3, 4]], [{ W, b }]);
  expect(y![0]![0]).toBe(5);
  expect(await dense([[0, 0]], [{ W, b }])).toEqual([[b]]);
});

it.each(["bert", "mpnet"] as const)("leaves no dense layer of %s in float32", (kind) => {
  const { graph, texts } = encoderGraph({
    architecture: tinyArchitecture(kind),
    weights: tinyWeights(kind),
    pooling: "mean",
    normalize: true,
    groups: 1,
  });
  graph.output("vectors", texts);
  const { nodes } = toInt8(graph);
  const count = (op: string) => nodes.filter((node) => node.op === op).length;
  expect(count("Gemm")).toBe(1); // the pooling
  expect(count("DynamicQuantizeMatMul")).toBe(2 * 4); // 4 per layer, because query, key and value are one product
});
