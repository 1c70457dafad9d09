import { describe, expect, it } from "vitest";
import { Random } from "../../../random/random.ts";
import { evaluate } from "../reference/operators.fixture.ts";
import { backward } from "./backward.ts";
import { GRADIENTS } from "./gradients.ts";
import { type Dims, Graph, type Value } from "./graph.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

/** Builds a graph with the operator. The inputs that it requests are random numbers. */
type Case = (graph: Graph, x: (...dims: number[]) => Value) => Value | readonly Value[];

/** Inputs in float64, for finite differences with the reference implementation. */
interface Feed {
  readonly dims: readonly number[];
  readonly data: Iterable<number>;
}

/** At least one example per rule, with every broadcast and transposition that a rule distinguishes. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  Add: [
    (g, x) => g.add(x(2, 3), x(2, 3)),
    (g, x) => g.add(x(2, 3), x(3)),
    (g, x) => g.add(x(2, 1, 3), x(4, 1)),
  ],
  Sub: [(g, x) => g.sub(x(2, 3), x(2, 3)), (g, x) => g.sub(x(2, 1), x(3))],
  Mul: [(g, x) => g.mul(x(2, 3), x(2, 3)), (g, x) => g.mul(x(3), x(2, 3))],
  Div: [
    (g, x) => g.div(x(2, 3), positive(g, x(2, 3))),
    (g, x) => g.div(x(2, 3), positive(g, x(1))),
  ],
  Sqrt: [(g, x) => g.sqrt(positive(g, x(2, 3)))],
  Gelu: [(g, x) => g.gelu(g.scale(x(4, 5), 2))],
  Softmax: [(g, x) => g.softmax(x(2, 3, 4))],
  LayerNormalization: [(g, x) => g.layerNorm(x(2, 3, 5), x(5), x(5), 1e-5)[0]],
  ReduceSum: [(g, x) => g.reduceSum(x(2, 3, 4), [-1]), (g, x) => g.reduceSum(x(2, 2), [0], false)],
  ReduceMean: [
    (g, x) => g.reduceMean(x(2, 3), [-1]),
    (g, x) => g.reduceMean(x(2, 3), [0, 1], false),
  ],
  ReduceMax: [(g, x) => g.reduceMax(x(2, 3, 4), 1), (g, x) => g.reduceMax(x(2, 3), -1, true)],
  Gemm: [
    (g, x) => g.gemm(x(2, 3), x(3, 4)),
    (g, x) => g.gemm(x(2, 3), x(4, 3), x(4), { transB: true }),
    (g, x) => g.gemm(x(3, 2), x(3, 4), x(2, 4), { transA: true, alpha: 0.5 }),
    (g, x) => g.gemm(x(3, 2), x(4, 3), undefined, { transA: true, transB: true }),
  ],
  FusedMatMul: [
    (g, x) => g.matmul(x(2, 2, 2, 3), x(2, 2, 3, 4)),
    (g, x) => g.matmul(x(2, 2, 3), x(2, 4, 3), { transB: true, alpha: 0.3 }),
    (g, x) => g.matmul(x(2, 3, 2), x(2, 3, 4), { transA: true }),
    (g, x) => g.matmul(x(2, 3, 2), x(2, 4, 3), { transA: true, transB: true }),
  ],
  Gather: [
    (g, x) => g.gather(x(4, 3), integers(g, [5], [3, 0, 3, 3, 1])),
    (g, x) => g.gather(x(4, 3), integers(g, [2, 2], [2, 0, 2, 1])),
  ],
  Reshape: [(g, x) => g.reshape(x(2, 6), [4, 3])],
  Transpose: [(g, x) => g.transpose(x(2, 3, 4), [1, 2, 0])],
  Split: [
    (g, x) => g.split(x(2, 5, 3), 1, [1, 4]),
    (g, x) => g.split(x(2, 5, 3), 1, [1, 4])[1]!, // the first part has no gradient
  ],
  Concat: [(g, x) => g.concat([x(2, 1, 3), x(2, 4, 3)], 1, 5)],
};

describe("every operator's gradient", () => {
  it.each(Object.keys(GRADIENTS))("%s has an example", (op) => {
    const graphs = (CASES[op] ?? []).map((build) => differentiated(build).graph);
    expect(graphs.length).toBeGreaterThan(0);
    for (const { nodes } of graphs) expect(nodes.map((node) => node.op)).toContain(op);
  });

  const cases = Object.entries(CASES).flatMap(([op, list]) =>
    list.map((build, i) => ({ name: `${op} ${i}`, build })),
  );

  it.each(cases)("$name is the limit of finite differences", ({ build }) => {
    const { graph, feeds } = differentiated(build);
    const result = evaluate(graph, feeds);
    for (const [name, { dims, data }] of feeds) {
      const gradient = result.get(`d ${name}`)!;
      expect(gradient.dims).toEqual(dims);
      for (const [i, value] of data.entries()) {
        // Central differences with a step of 1e-5 have an error of about 1e-10, plus rounding.
        const lossAt = (at: number) => {
          const moved = { dims, data: Float64Array.from(data).with(i, at) };
          return evaluate(graph, new Map<string, Feed>([...feeds, [name, moved]])).get("loss")!
            .data[0]!;
        };
        const slope = (lossAt(value + 1e-5) - lossAt(value - 1e-5)) / 2e-5;
        expect(gradient.data[i]).toBeCloseTo(slope, 7);
      }
    }
  });

  it.each(cases)("$name is the same in onnxruntime", async ({ build }) => {
    const { graph, feeds } = differentiated(build);
    const expected = evaluate(graph, feeds);
    for (const [name, data] of await runInOnnxruntime(graph, feeds)) {
      const { data: reference } = expected.get(name)!;
      expect(data).toHaveLength(reference.length);
      for (const [i, value] of reference.entries()) expect(data[i]).toBeCloseTo(value, 4);
    }
  });
});

describe("backward", () => {
  it("sums the gradients of a value that is used twice", () => {
    const { graph, feeds } = differentiated((g, x) => {
      const a = x(3);
      return g.add(g.mul(a, a), a);
    });
    const result = evaluate(graph, feeds);
    const [a] = [...feeds.values()];
    const weights = [...graph.constants.values()].find(({ dims }) => dims.length === 1)!;
    for (const [i, value] of a!.data.entries()) {
      const expected = Number(weights.data[i]) * (2 * value + 1);
      expect(result.get("d 0")!.data[i]).toBeCloseTo(expected, 12);
    }
  });

  it("returns zeros for values that the loss does not depend on", () => {
    const { graph, feeds } = differentiated((g, x) => {
      x(2, 2);
      return g.zeros([1]);
    });
    expect([...evaluate(graph, feeds).get("d 0")!.data]).toEqual([0, 0, 0, 0]);
  });

  it("names an operator without a rule", () => {
    expect(() => differentiated((g, x) => g.erf(x(2)))).toThrow("Erf has no gradient rule");
  });
});

/** A graph of loss = sum(outputs * random weights) and its gradients, `d NAME` for each input. */
function differentiated(build: Case) {
  const graph = new Graph();
  const random = Random.seeded(7);
  const feeds = new Map<string, { dims: number[]; data: Float32Array }>();
  const outputs = [
    build(graph, (...dims) => {
      const name = `${feeds.size}`;
      feeds.set(name, { dims, data: normals(random, dims) });
      return graph.input(name, "float32", dims);
    }),
  ].flat();
  const sums = outputs.map((output) => {
    const dims = output.dims as readonly number[];
    const weights = graph.constant({ dims, data: normals(random, dims) });
    const all = dims.map((_, axis) => axis);
    return graph.reduceSum(graph.mul(output, weights), all, false);
  });
  const loss = sums.reduce((a, b) => graph.add(a, b));
  const gradients = backward(graph, loss, graph.inputs);
  graph.output("loss", loss);
  for (const input of graph.inputs) graph.output(`d ${input.name}`, gradients.get(input)!);
  return { graph, feeds };
}

function normals(random: Random, dims: Dims): Float32Array {
  const size = dims.reduce<number>((product, dim) => product * Number(dim), 1);
  return Float32Array.from({ length: size }, () => random.normal());
}

/** x^2 + 1/2, which avoids the places where quotients and roots have no derivative. */
function positive(graph: Graph, x: Value): Value {
  return graph.add(graph.mul(x, x), graph.scalar(0.5));
}

function integers(graph: Graph, dims: number[], data: number[]): Value {
  return graph.constant({ dims, data: Int32Array.from(data) });
}
