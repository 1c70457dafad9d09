/**
 * Dense layers in 8 bits, made from the float32 weights alone. With X ~ diag(s) Q
 * and W^T ~ P diag(t), Q and P whole numbers of 8 bits,
 *
 *   X W^T + b ~ diag(s) (Q P) diag(t) + b,
 *
 * t_j the scale of an output (a column of P) and s_i that of a token (a row of X),
 * taken anew from each token: max |x_i| / 127. So a token's numbers depend on no
 * other token, and a text's vector not on its batch. onnxruntime's own dynamic
 * quantisation has one scale for all of X, and with it a text's vector changes
 * with its neighbours.
 */
import type { Graph, Value } from "./graph.ts";
import type { Tensor } from "./safetensors.ts";

const LARGEST = 127;
/** Q is stored as Q + 128: uint8 times int8 is what processors multiply fast. */
const ZERO = 128;

/** The `dense` of an encoder graph. */
export function int8Dense(weights: ReadonlyMap<string, Tensor>) {
  const quantised = new Map<Value, Rows>();
  return (graph: Graph, x: Value, name: string): Value => {
    const rows = quantised.get(x) ?? quantiseRows(graph, x);
    quantised.set(x, rows); // query, key and value have one x
    const { dims, data, scales } = quantiseColumns(weights.get(`${name}.weight`)!);
    const [product] = graph.node(
      "MatMulIntegerToFloat",
      [
        rows.values,
        graph.constant({ dims, data }, `${name}.int8`),
        graph.scalar(1),
        graph.constant({ dims: [scales.length], data: scales }, `${name}.scale`),
        rows.zero,
      ],
      [{ dims: [x.dims[0]!, dims[1]!] }],
      {},
      "com.microsoft",
    );
    const bias = graph.constant(weights.get(`${name}.bias`)!, `${name}.bias`);
    return graph.add(graph.mul(product!, rows.scales), bias);
  };
}

/** X as Q and s. */
interface Rows {
  readonly values: Value;
  /** [N, 1] */
  readonly scales: Value;
  readonly zero: Value;
}

function quantiseRows(graph: Graph, x: Value): Rows {
  const [N] = x.dims;
  const [size] = graph.node("Abs", [x], [{ dims: x.dims }]);
  const scales = graph.scale(graph.reduceMax(size!, 1), 1 / LARGEST);
  const zero = graph.constant({ dims: [], data: Uint8Array.of(ZERO) });
  const [zeros] = graph.node("Expand", [zero, graph.shape([N!])], [{ type: "uint8", dims: [N!] }]);
  const [values] = graph.node(
    "QuantizeLinear",
    [x, scales, zeros!],
    [{ type: "uint8", dims: x.dims }],
    { axis: 0 },
  );
  return { values: values!, scales: graph.reshape(scales, [N!, 1]), zero };
}

/** The weights [out, in] as P [in, out] and t. */
function quantiseColumns({ dims, data }: Tensor) {
  const [columns, rows] = dims as [number, number];
  const out = new Int8Array(data.length);
  const scales = new Float32Array(columns);
  for (let j = 0; j < columns; j++) {
    let largest = 0;
    for (let i = 0; i < rows; i++) largest = Math.max(largest, Math.abs(data[j * rows + i]!));
    scales[j] = largest / LARGEST;
    const inverse = largest === 0 ? 0 : LARGEST / largest;
    for (let i = 0; i < rows; i++) out[i * columns + j] = Math.round(data[j * rows + i]! * inverse);
  }
  return { dims: [rows, columns], data: out, scales };
}
