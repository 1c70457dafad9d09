/**
 * Every operator in plain loops and float64. Tests compare onnxruntime and the
 * gradient rules with it.
 */
import type { Attribute, Graph, Node, Value } from "../graph/graph.ts";

export interface Array64 {
  readonly dims: readonly number[];
  readonly data: Float64Array;
}

/** Computes the outputs of a graph. Integers are represented as floats. */
export function evaluate(
  graph: Graph,
  feeds: ReadonlyMap<string, { readonly dims: readonly number[]; readonly data: Iterable<number> }>,
): Map<string, Array64> {
  const values = new Map<Value, Array64>();
  for (const input of graph.inputs) {
    const feed = feeds.get(input.name);
    if (!feed) throw new Error(`no input ${input.name}`);
    values.set(input, { dims: feed.dims, data: Float64Array.from(feed.data) });
  }
  for (const [value, { dims, data }] of graph.constants) {
    values.set(value, { dims, data: Float64Array.from(data, Number) });
  }
  for (const node of graph.nodes) {
    const operator = OPERATORS[node.op];
    if (!operator) throw new Error(`${node.op} has no reference`);
    const results = [
      operator(
        node.inputs.map((input) => values.get(input)!),
        node,
      ),
    ].flat();
    for (const [i, output] of node.outputs.entries()) values.set(output, results[i]!);
  }
  return new Map([...graph.outputs].map(([name, value]) => [name, values.get(value)!]));
}

type Operator = (inputs: readonly Array64[], node: Node) => Array64 | Array64[];

const OPERATORS: Readonly<Record<string, Operator>> = {
  Add: ([a, b]) => elementwise(a!, b!, (p, q) => p + q),
  Sub: ([a, b]) => elementwise(a!, b!, (p, q) => p - q),
  Mul: ([a, b]) => elementwise(a!, b!, (p, q) => p * q),
  Div: ([a, b]) => elementwise(a!, b!, (p, q) => p / q),
  Equal: ([a, b]) => elementwise(a!, b!, (p, q) => Number(p === q)),
  Neg: ([x]) => map(x!, (value) => -value),
  Exp: ([x]) => map(x!, Math.exp),
  Erf: ([x]) => map(x!, erf),
  Sqrt: ([x]) => map(x!, Math.sqrt),
  Cast: ([x]) => x!,
  Identity: ([x]) => x!,
  Gelu: ([x]) => map(x!, (value) => (value * (1 + erf(value * Math.SQRT1_2))) / 2),

  Softmax: ([x]) =>
    rows(x!, (row) => {
      const largest = Math.max(...row);
      const powers = row.map((value) => Math.exp(value - largest));
      const sum = powers.reduce((a, b) => a + b);
      return powers.map((power) => power / sum);
    }),
  LayerNormalization: ([x, gamma, beta], { attributes }) => {
    const { float: epsilon } = attributes.epsilon as { float: number };
    const means = rows(x!, (row) => [average(row)]);
    const inverses = rows(x!, (row) => {
      const mean = average(row);
      return [1 / Math.sqrt(average(row.map((value) => (value - mean) ** 2)) + epsilon)];
    });
    const y = rows(x!, (row, r) =>
      row.map((value, i) => {
        const xhat = (value - means.data[r]!) * inverses.data[r]!;
        return xhat * gamma!.data[i]! + beta!.data[i]!;
      }),
    );
    return [y, means, inverses];
  },

  ReduceSum: ([x, axes], node) => reduce(x!, axes, node, (all) => all.reduce((a, b) => a + b, 0)),
  ReduceMean: ([x, axes], node) => reduce(x!, axes, node, average),
  ReduceMax: ([x, axes], node) => reduce(x!, axes, node, (all) => Math.max(...all)),
  ReduceProd: ([x, axes], node) => reduce(x!, axes, node, (all) => all.reduce((a, b) => a * b, 1)),

  Gemm: ([a, b, c], node) => {
    const product = multiply(a!, b!, node);
    return c ? elementwise(product, c, (p, q) => p + q) : product;
  },
  FusedMatMul: ([a, b], node) => multiply(a!, b!, node),

  Gather: ([table, ids]) =>
    build([...ids!.dims, ...table!.dims.slice(1)], (at) => {
      const id = ids!.data[offset(ids!.dims, at.slice(0, ids!.dims.length))]!;
      return table!.data[offset(table!.dims, [id, ...at.slice(ids!.dims.length)])]!;
    }),
  ScatterElements: ([data, ids, updates]) => {
    const out = data!.data.slice();
    for (const [i, at] of indices(ids!.dims).entries()) {
      out[offset(data!.dims, [ids!.data[i]!, ...at.slice(1)])]! += updates!.data[i]!;
    }
    return { dims: data!.dims, data: out };
  },

  Shape: ([x], { attributes }) =>
    vector(x!.dims.slice(attributes.start as number, attributes.end as number)),
  ConstantOfShape: ([shape]) => build([...shape!.data], () => 0),
  Expand: ([x, shape]) =>
    elementwise(
      x!,
      build([...shape!.data], () => 0),
      (value) => value,
    ),
  Reshape: ([x, shape]) => {
    const known = shape!.data.reduce((a, b) => (b < 0 ? a : a * b), 1);
    const dims = Array.from(shape!.data, (dim) => (dim < 0 ? x!.data.length / known : dim));
    return { dims, data: x!.data };
  },
  Transpose: ([x], { attributes }) => {
    const perm = attributes.perm as readonly number[];
    return build(
      perm.map((axis) => x!.dims[axis]!),
      (at) => x!.data[offset(x!.dims, permuteBack(at, perm))]!,
    );
  },
  Concat: (parts, { attributes }) => {
    const axis = attributes.axis as number;
    // Part and position within it, for each index along the axis.
    const places = parts.flatMap((part) =>
      Array.from({ length: part.dims[axis]! }, (_, i) => ({ part, i })),
    );
    return build(parts[0]!.dims.with(axis, places.length), (at) => {
      const { part, i } = places[at[axis]!]!;
      return part.data[offset(part.dims, at.with(axis, i))]!;
    });
  },
  Split: ([x, sizes], { attributes }) => {
    const axis = attributes.axis as number;
    let begin = 0;
    return Array.from(sizes!.data, (size) => {
      const first = begin;
      begin += size;
      return build(x!.dims.with(axis, size), (at) => {
        return x!.data[offset(x!.dims, at.with(axis, first + at[axis]!))]!;
      });
    });
  },
  Slice: ([x, , ends]) => build([...ends!.data], (at) => x!.data[offset(x!.dims, at)]!),
};

/** erf(x) = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (1 3 5 .. (2n+1)): all terms have the same sign. */
export function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Returns all index tuples of a shape. The last axis changes fastest. */
function indices(dims: readonly number[]): number[][] {
  return dims.reduce<number[][]>(
    (before, dim) => before.flatMap((at) => Array.from({ length: dim }, (_, i) => [...at, i])),
    [[]],
  );
}

/** Returns the position of an element. Axes of length 1 are broadcast, and missing axes come first. */
function offset(dims: readonly number[], at: readonly number[]): number {
  const skipped = at.length - dims.length;
  return dims.reduce((sum, dim, axis) => sum * dim + (dim === 1 ? 0 : at[axis + skipped]!), 0);
}

function build(dims: readonly number[], element: (at: number[]) => number): Array64 {
  return { dims, data: Float64Array.from(indices(dims), element) };
}

function vector(numbers: readonly number[]): Array64 {
  return { dims: [numbers.length], data: Float64Array.from(numbers) };
}

function map({ dims, data }: Array64, f: (value: number) => number): Array64 {
  return { dims, data: data.map((value) => f(value)) };
}

function elementwise(a: Array64, b: Array64, f: (p: number, q: number) => number): Array64 {
  const rank = Math.max(a.dims.length, b.dims.length);
  const dims = Array.from({ length: rank }, (_, axis) =>
    Math.max(a.dims[axis - rank + a.dims.length] ?? 1, b.dims[axis - rank + b.dims.length] ?? 1),
  );
  return build(dims, (at) => f(a.data[offset(a.dims, at)]!, b.data[offset(b.dims, at)]!));
}

/** Applies a function to each row along the last axis. */
function rows(x: Array64, f: (row: number[], r: number) => number[]): Array64 {
  const width = x.dims.at(-1)!;
  const made = Array.from({ length: x.data.length / width }, (_, r) =>
    f([...x.data.subarray(r * width, (r + 1) * width)], r),
  );
  return { dims: x.dims.with(-1, made[0]!.length), data: Float64Array.from(made.flat()) };
}

function reduce(
  x: Array64,
  axes: Array64 | undefined,
  { attributes }: Node,
  f: (all: number[]) => number,
): Array64 {
  const rank = x.dims.length;
  const reduced = axes
    ? Array.from(axes.data, (axis) => (axis + rank) % rank)
    : x.dims.map((_, i) => i);
  const kept = x.dims.map((dim, axis) => (reduced.includes(axis) ? 1 : dim));
  const groups = kept.reduce((a, b) => a * b, 1);
  const members = Array.from({ length: groups }, (): number[] => []);
  for (const [i, at] of indices(x.dims).entries()) members[offset(kept, at)]!.push(x.data[i]!);
  const data = Float64Array.from(members, f);
  const dims =
    attributes.keepdims === 1 ? kept : x.dims.filter((_, axis) => !reduced.includes(axis));
  return { dims, data };
}

function multiply(a: Array64, b: Array64, { attributes }: Node): Array64 {
  const [left, right] = [swapIf(attributes.transA, a), swapIf(attributes.transB, b)];
  const { float: alpha } = attributes.alpha as { float: number };
  const inner = left.dims.at(-1)!;
  return build(left.dims.with(-1, right.dims.at(-1)!), (at) => {
    let sum = 0;
    for (let k = 0; k < inner; k++) {
      const p = left.data[offset(left.dims, at.with(-1, k))]!;
      sum += p * right.data[offset(right.dims, at.with(-2, k))]!;
    }
    return alpha * sum;
  });
}

/** Exchanges the last two axes if `transposed` is 1. */
function swapIf(transposed: Attribute | undefined, x: Array64): Array64 {
  if (transposed !== 1) return x;
  const [m, n] = [x.dims.at(-2)!, x.dims.at(-1)!];
  return build(x.dims.with(-2, n).with(-1, m), (at) => {
    return x.data[offset(x.dims, at.with(-2, at.at(-1)!).with(-1, at.at(-2)!))]!;
  });
}

function permuteBack(at: readonly number[], perm: readonly number[]): number[] {
  const back = [...at];
  for (const [i, axis] of perm.entries()) back[axis] = at[i]!;
  return back;
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0) / numbers.length;
}
