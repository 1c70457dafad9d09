/**
 * The gradient rules, one row per operator: from dy = d loss / d output to
 * d loss / d input. The results are nodes of the same graph. They are functions, so
 * that only the needed ones are built. gradients.test.ts checks each row against
 * finite differences.
 */
import type { Dims, Graph, Node, Product, Value } from "./graph.ts";

/** `dys` holds the gradient of each output, or undefined; `dy` is the first that exists. */
type Rule = (
  graph: Graph,
  node: Node,
  dy: Value,
  dys: readonly (Value | undefined)[],
) => readonly ((() => Value) | undefined)[];

export const GRADIENTS: Readonly<Record<string, Rule>> = {
  // Element by element: y = f(a, b) where a or b may have been broadcast

  Add: (graph, { inputs: [a, b] }, dy) => [
    () => sumTo(graph, dy, a!.dims),
    () => sumTo(graph, dy, b!.dims),
  ],
  Sub: (graph, { inputs: [a, b] }, dy) => [
    () => sumTo(graph, dy, a!.dims),
    () => sumTo(graph, graph.neg(dy), b!.dims),
  ],
  Mul: (graph, { inputs: [a, b] }, dy) => [
    () => sumTo(graph, graph.mul(dy, b!), a!.dims),
    () => sumTo(graph, graph.mul(dy, a!), b!.dims),
  ],
  // d(a/b)/db = -(a/b) / b
  Div: (graph, { inputs: [a, b], outputs: [y] }, dy) => [
    () => sumTo(graph, graph.div(dy, b!), a!.dims),
    () => sumTo(graph, graph.neg(graph.div(graph.mul(dy, y!), b!)), b!.dims),
  ],
  // d sqrt(x) = 1 / (2 sqrt(x))
  Sqrt: (graph, { outputs: [y] }, dy) => [() => graph.div(graph.scale(dy, 0.5), y!)],
  // y = x Phi(x): y' = Phi(x) + x phi(x) = (1 + erf(t) + 2 t exp(-t^2) / sqrt(pi)) / 2, t = x / sqrt(2)
  Gelu: (graph, { inputs: [x] }, dy) => [
    () => {
      const t = graph.scale(x!, Math.SQRT1_2);
      const bell = graph.exp(graph.neg(graph.mul(t, t)));
      const density = graph.mul(t, graph.scale(bell, 2 / Math.sqrt(Math.PI)));
      const twice = graph.add(graph.add(graph.erf(t), density), graph.scalar(1));
      return graph.mul(graph.scale(dy, 0.5), twice);
    },
  ],

  // Along the last axis

  // dx_i = y_i (dy_i - sum_j y_j dy_j)
  Softmax: (graph, { outputs: [y] }, dy) => [
    () => graph.mul(y!, graph.sub(dy, graph.reduceSum(graph.mul(y!, dy), [-1]))),
  ],
  // y = xhat gamma + beta; with g = dy gamma: dx = inverse (g - mean(g) - xhat mean(g xhat))
  LayerNormalization: (graph, { inputs: [x, gamma, beta], outputs: [, mean, inverse] }, dy) => {
    const xhat = graph.mul(graph.sub(x!, mean!), inverse!);
    return [
      () => {
        const g = graph.mul(dy, gamma!);
        const slope = graph.reduceMean(graph.mul(g, xhat), [-1]);
        const level = graph.reduceMean(g, [-1]);
        return graph.mul(inverse!, graph.sub(graph.sub(g, level), graph.mul(xhat, slope)));
      },
      () => sumTo(graph, graph.mul(dy, xhat), gamma!.dims),
      () => sumTo(graph, dy, beta!.dims),
    ];
  },

  // Sums: every element that was summed has the sum's gradient

  ReduceSum: (graph, node, dy) => [
    () => graph.expand(graph.reshape(dy, keptDims(graph, node)), node.inputs[0]!.dims),
  ],
  ReduceMean: (graph, node, dy) => [
    () => {
      const { dims } = node.inputs[0]!;
      const kept = keptDims(graph, node);
      const count = graph.count(dims.filter((dim, axis) => dim !== kept[axis]));
      return graph.expand(graph.reshape(graph.div(dy, count), kept), dims);
    },
  ],
  // If two elements are equal to the maximum, which is very rare, both get the gradient.
  ReduceMax: (graph, node, dy) => [
    () => {
      const { inputs, outputs } = node;
      const kept = keptDims(graph, node);
      const largest = graph.equal(inputs[0]!, graph.reshape(outputs[0]!, kept));
      return graph.mul(largest, graph.reshape(dy, kept));
    },
  ],

  // Products: Y = alpha A B + c

  Gemm: (graph, node, dy) => [
    ...products(node, dy, (a, b, product) => graph.gemm(a, b, undefined, product)),
    () => sumTo(graph, dy, node.inputs[2]!.dims),
  ],
  FusedMatMul: (graph, node, dy) =>
    products(node, dy, (a, b, product) => graph.matmul(a, b, product)),

  // Rows and shapes: the gradient returns to the place of its element

  Gather: (graph, { inputs: [table, ids] }, dy) => [
    () => graph.scatterAdd(table!.dims[0]!, ids!, dy),
    undefined,
  ],
  Reshape: (graph, { inputs: [x] }, dy) => [() => graph.reshape(dy, x!.dims), undefined],
  Transpose: (graph, { attributes }, dy) => [
    () => {
      const perm = attributes.perm as readonly number[];
      return graph.transpose(
        dy,
        perm.map((_, axis) => perm.indexOf(axis)),
      );
    },
  ],
  Split: (graph, { inputs: [x], outputs, attributes }, _, dys) => [
    () => {
      const axis = attributes.axis as number;
      const parts = outputs.map((part, i) => dys[i] ?? graph.zeros(part.dims));
      return graph.concat(parts, axis, x!.dims[axis]!);
    },
    undefined,
  ],
  Concat: (graph, { inputs, attributes }, dy) => {
    const axis = attributes.axis as number;
    const parts = graph.split(
      dy,
      axis,
      inputs.map((part) => part.dims[axis]!),
    );
    return parts.map((part) => () => part);
  },
};

/** Undoes a broadcast: sums the gradient over the axes along which the input was repeated. */
function sumTo(graph: Graph, dy: Value, dims: Dims): Value {
  const added = dy.dims.length - dims.length;
  const axes = dy.dims.flatMap((dim, axis) =>
    axis < added || dims[axis - added] !== dim ? [axis] : [],
  );
  if (axes.length === 0) return dy;
  if (axes.length === added) return graph.reduceSum(dy, axes, false);
  const sum = graph.reduceSum(dy, axes);
  return added === 0 ? sum : graph.reshape(sum, dims);
}

/** Returns the dimensions of a reduction's result with the reduced axes kept as 1. */
function keptDims(graph: Graph, { inputs: [x, axes] }: Node): Dims {
  const rank = x!.dims.length;
  const { data } = graph.constants.get(axes!)!;
  const reduced = [...data].map((axis) => (Number(axis) + rank) % rank);
  return x!.dims.map((dim, axis) => (reduced.includes(axis) ? 1 : dim));
}

/**
 * With A' and B' for A and B after transposition: dA' = alpha dY B'^T and
 * dB' = alpha A'^T dY, transposed where A or B was.
 */
function products(
  { inputs, attributes }: Node,
  dy: Value,
  multiply: (a: Value, b: Value, product: Product) => Value,
): [() => Value, () => Value] {
  const [a, b] = inputs as [Value, Value];
  const [transA, transB] = [attributes.transA === 1, attributes.transB === 1];
  const { float: alpha } = attributes.alpha as { float: number };
  return [
    () =>
      transA
        ? multiply(b, dy, { transA: transB, transB: true, alpha })
        : multiply(dy, b, { transB: !transB, alpha }),
    () =>
      transB
        ? multiply(dy, a, { transA: true, transB: transA, alpha })
        : multiply(a, dy, { transA: !transA, alpha }),
  ];
}
