/**
 * Converts the dense layers of a graph to 8 bits, from the float32 weights alone.
 * With X ~ s (Q - z) and W^T ~ P diag(t), where Q and P are 8-bit integers,
 *
 *   X W^T + b ~ s (Q - z) P diag(t) + b.
 *
 * t_j is the scale of output j. s and z belong to all of X and are computed in
 * every run from its minimum and maximum. So a run must hold one text only: with
 * two texts, the embedding of each would depend on the other.
 *
 * |P| is at most 64, because x86 without VNNI adds two products in 16 bits, and
 * 2 * 255 * 64 just fits.
 *
 * MiniLM on the RouterBench queries: cosine to float32, category accuracy (float32
 * has 0.768), and milliseconds for 64 tokens on two threads:
 *   this method                  0.993  0.766  3.9
 *   |P| up to 127                0.995  0.766  3.9
 *   s per token, |P| up to 127   0.998  0.767  5.0  seven operators instead of one
 *   MatMulNBits, 8 bits          0.999         10   s per token in one operator
 *
 * Gelu uses its tanh approximation, whose error of at most 5e-4 is far less than
 * the quantization step.
 */
import type { Constant, Graph, Node, Value } from "./graph.ts";
import { rewrite } from "./rewrite.ts";

export function toInt8(float: Graph): Graph {
  const { constants } = float;
  const layersOf = Map.groupBy(
    float.nodes.filter((node) => isDense(node, float)),
    ({ inputs: [x] }) => x!,
  );
  const made = new Map<Node, Value>();
  return rewrite(float, (node, graph, twinOf) => {
    const { op, inputs, outputs } = node;
    if (op === "Gelu") {
      return graph.node(op, inputs.map(twinOf), outputs, { approximate: "tanh" });
    }
    if (!isDense(node, float)) return undefined;
    if (!made.has(node)) {
      const [x] = inputs;
      const nodes = layersOf.get(x!)!;
      const layers = nodes.map(({ inputs: [, W, b] }) => ({
        W: constants.get(W!)!,
        b: constants.get(b!)!,
      }));
      for (const [i, y] of denseInt8(graph, twinOf(x!), layers).entries()) made.set(nodes[i]!, y);
    }
    return [made.get(node)!];
  });
}

/** Whether the node is X W^T + b with constant weights. */
function isDense({ op, inputs: [, W, b], attributes }: Node, { constants }: Graph): boolean {
  return op === "Gemm" && attributes.transB === 1 && constants.has(W!) && constants.has(b!);
}

interface Layer {
  readonly W: Constant;
  readonly b: Constant;
}

/** Computes several layers with the same X, such as query, key and value, as one product. */
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

/** The omitted optional input for the zero point of P. */
const NONE: Value = { name: "", type: "int8", dims: [] };

const LARGEST = 64;

/** Fills a column of P and returns its scale t, which maps the largest weight to LARGEST. */
function quantise(weights: Float32Array, P: Int8Array, column: number, width: number): number {
  let largest = 0;
  for (let i = 0; i < weights.length; i++) largest = Math.max(largest, Math.abs(weights[i]!));
  const scale = largest === 0 ? 1 : largest / LARGEST;
  for (let i = 0; i < weights.length; i++) {
    P[i * width + column] = Math.round(weights[i]! / scale);
  }
  return scale;
}
