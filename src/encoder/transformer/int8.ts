/**
 * A graph with its dense layers in 8 bits, made from the float32 weights alone.
 * With X ~ s (Q - z) and W^T ~ P diag(t), Q and P whole numbers of 8 bits,
 *
 *   X W^T + b ~ s (Q - z) P diag(t) + b,
 *
 * t_j the scale of one output, s and z those of all of X, found anew at every run
 * from its least and largest number. So X must be one text's: with two in a run
 * the vector of each would change with the other.
 *
 * |P| is at most 64: x86 without VNNI adds two products in 16 bits, and
 * 2 * 255 * 64 just fits.
 *
 * MiniLM on the RouterBench queries, cosine to float32 and category accuracy
 * (float32 0.768), and milliseconds for 64 tokens on two threads:
 *   this                         0.993  0.765  4.0
 *   |P| up to 127                0.995  0.766  4.0
 *   s of each token, |P| to 127  0.998  0.767  5.0  seven operators in place of one
 *   MatMulNBits, 8 bits          0.999         10   s of each token in one operator
 *
 * Gelu by its tanh approximation is off by 5e-4 at most, far less than a step.
 */
import { type Constant, Graph, type Node, type Value } from "./graph.ts";

/** For runs of one text each. */
export function toInt8(float: Graph): Graph {
  const graph = new Graph();
  const twins = new Map<Value, Value>();
  const twinOf = (value: Value): Value => {
    const twin = twins.get(value) ?? graph.constant(float.constants.get(value)!);
    twins.set(value, twin);
    return twin;
  };
  for (const input of float.inputs) {
    twins.set(input, graph.input(input.name, input.type, input.dims));
  }
  const dense = Map.groupBy(
    float.nodes.filter((node) => isDense(node, float)),
    ({ inputs: [x] }) => x!,
  );
  const masks = masksOf(float);
  for (const node of float.nodes) {
    const { op, inputs, outputs, attributes, domain } = node;
    const [x] = inputs;
    const together = dense.get(x!);
    if (together?.includes(node)) {
      if (node !== together[0]) continue;
      const layers = together.map(({ inputs: [, W, b] }) => ({
        W: float.constants.get(W!)!,
        b: float.constants.get(b!)!,
      }));
      const made = denseInt8(graph, twinOf(x!), layers);
      for (const [i, { outputs }] of together.entries()) twins.set(outputs[0]!, made[i]!);
    } else if (op === "Add" && inputs.some((input) => masks.has(input))) {
      twins.set(outputs[0]!, twinOf(inputs.find((input) => !masks.has(input))!));
    } else {
      const own = op === "Gelu" ? { approximate: "tanh" } : attributes;
      const made = graph.node(op, inputs.map(twinOf), outputs, own, domain);
      for (const [i, output] of outputs.entries()) twins.set(output, made[i]!);
    }
  }
  for (const [name, value] of float.outputs) graph.output(name, twinOf(value));
  return graph;
}

/** A text alone has no padding: what is added to mask it is 0. */
function masksOf({ inputs, nodes }: Graph): ReadonlySet<Value> {
  const masks = new Set(inputs.filter(({ name }) => name.startsWith("mask.")));
  for (const { op, inputs, outputs } of nodes) {
    if (op === "Reshape" && masks.has(inputs[0]!)) masks.add(outputs[0]!);
  }
  return masks;
}

/** X W^T + b, the weights known. */
function isDense({ op, inputs: [, W, b], attributes }: Node, { constants }: Graph): boolean {
  return op === "Gemm" && attributes.transB === 1 && constants.has(W!) && constants.has(b!);
}

interface Layer {
  readonly W: Constant;
  readonly b: Constant;
}

/** The layers that have one X, such as query, key and value, as one product. */
function denseInt8(graph: Graph, x: Value, layers: readonly Layer[]): Value[] {
  const widths = layers.map(({ W }) => W.dims[0]!);
  const width = widths.reduce((a, b) => a + b);
  const depth = layers[0]!.W.dims[1]!;
  const P = { dims: [depth, width], data: new Int8Array(depth * width) };
  const t = { dims: [width], data: new Float32Array(width) };
  const bias = { dims: [width], data: new Float32Array(width) };
  let column = 0;
  for (const { W, b } of layers) {
    bias.data.set(b.data as Float32Array, column);
    for (let row = 0; row < W.dims[0]!; row++) {
      const weights = (W.data as Float32Array).subarray(row * depth, (row + 1) * depth);
      t.data[column] = quantise(weights, P.data, column, width);
      column++;
    }
  }
  const inputs = [x, graph.constant(P), graph.constant(t), NONE, graph.constant(bias)];
  const dims = [x.dims[0]!, width];
  const [product] = graph.node("DynamicQuantizeMatMul", inputs, [{ dims }], {}, "com.microsoft");
  return graph.split(product!, 1, widths);
}

/** An optional input that is left out: P has no zero point. */
const NONE: Value = { name: "", type: "int8", dims: [] };

const LARGEST = 64;

/** Fills a column of P and returns its t: the largest weight becomes LARGEST. A hot loop. */
function quantise(weights: Float32Array, P: Int8Array, column: number, width: number): number {
  let largest = 0;
  for (let i = 0; i < weights.length; i++) largest = Math.max(largest, Math.abs(weights[i]!));
  const scale = largest === 0 ? 1 : largest / LARGEST;
  for (let i = 0; i < weights.length; i++) {
    P[i * width + column] = Math.round(weights[i]! / scale);
  }
  return scale;
}
