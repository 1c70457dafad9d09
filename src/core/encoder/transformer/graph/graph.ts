/**
 * A computation in the form of ONNX: values with shapes, and nodes between them.
 * Each method adds one node (a few add two) and computes the shape of its result,
 * which gradients.ts needs to undo broadcasts.
 *
 * A dimension is a number or a name, so that one graph serves every batch. The
 * value of a name is read from the inputs at run time.
 */
export type Dim = number | string;
export type Dims = readonly Dim[];
export type ElementType = "float32" | "int32" | "int64" | "int8" | "uint8" | "bool";

export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: Dims;
}

export interface Constant {
  readonly dims: readonly number[];
  readonly data: Float32Array | Int32Array | BigInt64Array | Int8Array | Uint8Array;
}

export type Attribute = number | { readonly float: number } | string | readonly number[];

export interface Node {
  readonly op: string;
  /** "" for ONNX operators, "com.microsoft" for onnxruntime's own. */
  readonly domain: string;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface Product {
  readonly transA?: boolean;
  readonly transB?: boolean;
  readonly alpha?: number;
}

export class Graph {
  readonly inputs: Value[] = [];
  readonly constants = new Map<Value, Constant>();
  readonly nodes: Node[] = [];
  readonly outputs = new Map<string, Value>();
  #values = 0;
  readonly #scalars = new Map<number, Value>();
  readonly #shapes = new Map<string, Value>();
  readonly #defined = new Map<string, Value>();

  // Leaves

  input(name: string, type: ElementType, dims: Dims): Value {
    const value = { name, type, dims };
    this.inputs.push(value);
    return value;
  }

  constant({ dims, data }: Constant, name = this.#name("constant")): Value {
    const value = { name, type: typeOf(data), dims };
    this.constants.set(value, { dims, data });
    return value;
  }

  scalar(number: number): Value {
    const known = this.#scalars.get(number);
    if (known) return known;
    const value = this.constant({ dims: [], data: Float32Array.of(number) });
    this.#scalars.set(number, value);
    return value;
  }

  /** Makes `value` an output called `name`. */
  output(name: string, value: Value): void {
    const named = [...this.inputs, ...this.constants.keys(), ...this.outputs.values()];
    const own = named.includes(value) ? this.#one("Identity", [value], value.dims) : value;
    this.outputs.set(name, own);
  }

  // Operators without a method of their own

  node(
    op: string,
    inputs: readonly Value[],
    outputs: readonly { readonly type?: ElementType; readonly dims: Dims }[],
    attributes: Node["attributes"] = {},
    domain = "",
  ): Value[] {
    const made = outputs.map(({ type = "float32", dims }) => ({
      name: this.#name(op),
      type,
      dims,
    }));
    this.nodes.push({ op, domain, inputs, outputs: made, attributes });
    return made;
  }

  // Element by element

  add(a: Value, b: Value): Value {
    return this.#one("Add", [a, b], broadcast(a.dims, b.dims));
  }

  sub(a: Value, b: Value): Value {
    return this.#one("Sub", [a, b], broadcast(a.dims, b.dims));
  }

  mul(a: Value, b: Value): Value {
    return this.#one("Mul", [a, b], broadcast(a.dims, b.dims));
  }

  div(a: Value, b: Value): Value {
    return this.#one("Div", [a, b], broadcast(a.dims, b.dims));
  }

  scale(a: Value, factor: number): Value {
    return this.mul(a, this.scalar(factor));
  }

  neg(a: Value): Value {
    return this.#one("Neg", [a], a.dims);
  }

  exp(a: Value): Value {
    return this.#one("Exp", [a], a.dims);
  }

  erf(a: Value): Value {
    return this.#one("Erf", [a], a.dims);
  }

  sqrt(a: Value): Value {
    return this.#one("Sqrt", [a], a.dims);
  }

  /** x Phi(x), where Phi is the normal distribution function. Exact, not the tanh approximation. */
  gelu(a: Value): Value {
    return this.#one("Gelu", [a], a.dims);
  }

  /** 1 if a = b, else 0. */
  equal(a: Value, b: Value): Value {
    const dims = broadcast(a.dims, b.dims);
    const [same] = this.node("Equal", [a, b], [{ type: "bool", dims }]);
    return this.#one("Cast", [same!], dims, { to: FLOAT });
  }

  // Along the last axis

  softmax(a: Value): Value {
    return this.#one("Softmax", [a], a.dims, { axis: -1 });
  }

  /** [(x - mean) * inverse * gamma + beta, mean, inverse], inverse = 1 / sqrt(variance + epsilon) */
  layerNorm(
    x: Value,
    gamma: Value,
    beta: Value,
    epsilon: number,
  ): [y: Value, mean: Value, inverse: Value] {
    const row = { dims: [...x.dims.slice(0, -1), 1] };
    const attributes = { axis: -1, epsilon: { float: epsilon } };
    const made = this.node("LayerNormalization", [x, gamma, beta], [x, row, row], attributes);
    return made as [Value, Value, Value];
  }

  // Sums

  reduceSum(x: Value, axes: readonly number[], keepdims = true): Value {
    return this.#reduce("ReduceSum", x, axes, keepdims);
  }

  reduceMean(x: Value, axes: readonly number[], keepdims = true): Value {
    return this.#reduce("ReduceMean", x, axes, keepdims);
  }

  reduceMax(x: Value, axis: number, keepdims = false): Value {
    return this.#reduce("ReduceMax", x, [axis], keepdims);
  }

  // Products

  /** alpha A B + c, where A and B are matrices, optionally transposed, and c broadcasts. */
  gemm(a: Value, b: Value, c?: Value, { transA, transB, alpha = 1 }: Product = {}): Value {
    const dims = [a.dims[transA ? 1 : 0]!, b.dims[transB ? 0 : 1]!];
    agree("gemm", a.dims[transA ? 0 : 1]!, b.dims[transB ? 1 : 0]!);
    return this.#one("Gemm", c ? [a, b, c] : [a, b], dims, {
      transA: Number(transA ?? false),
      transB: Number(transB ?? false),
      alpha: { float: alpha },
    });
  }

  /** alpha A B over the last two axes. The other axes of A and B are equal. */
  matmul(a: Value, b: Value, { transA, transB, alpha = 1 }: Product = {}): Value {
    const [m, k] = lastTwo(a, transA);
    const [l, n] = lastTwo(b, transB);
    agree("matmul", k, l);
    const attributes = {
      transA: Number(transA ?? false),
      transB: Number(transB ?? false),
      alpha: { float: alpha },
    };
    const dims = [...a.dims.slice(0, -2), m, n];
    return this.#one("FusedMatMul", [a, b], dims, attributes, "com.microsoft");
  }

  // Rows

  /** table[ids]: the first axis of the table becomes the axes of ids. */
  gather(table: Value, ids: Value): Value {
    const dims = [...ids.dims, ...table.dims.slice(1)];
    return this.node("Gather", [table, ids], [{ type: table.type, dims }], { axis: 0 })[0]!;
  }

  /**
   * Adds every row of `updates` to the row of its id in a zero matrix [rows, width].
   * ScatterND would be wrong: its threads overwrite each other's sums if an id
   * occurs twice.
   */
  scatterAdd(rows: Dim, ids: Value, updates: Value): Value {
    const width = updates.dims.at(-1)!;
    const flat = this.reshape(updates, [product(ids.dims), width]);
    const column = this.reshape(ids, [product(ids.dims), 1]);
    const [everywhere] = this.node(
      "Expand",
      [column, this.shape([1, width])],
      [{ type: ids.type, dims: flat.dims }],
    );
    const attributes = { axis: 0, reduction: "add" };
    const zeros = this.zeros([rows, width]);
    return this.#one("ScatterElements", [zeros, everywhere!, flat], zeros.dims, attributes);
  }

  // Shapes

  /** The dimensions as an int64 vector. Named dimensions are read from the inputs. */
  shape(dims: Dims): Value {
    const key = dims.join(",");
    const known = this.#shapes.get(key);
    if (known) return known;
    const parts = dims.map((dim) => (typeof dim === "string" ? this.#dimension(dim) : dim));
    const made = parts.every((part) => typeof part === "number")
      ? this.#integers(parts)
      : this.concat(
          parts.map((part) => (typeof part === "number" ? this.#integers([part]) : part)),
          0,
          dims.length,
        );
    this.#shapes.set(key, made);
    return made;
  }

  /** Defines the dimension `name` as the product of these dimensions. */
  define(name: string, dims: Dims): void {
    this.#defined.set(name, this.#size(dims));
  }

  /** The product of dimensions as a float. */
  count(dims: Dims): Value {
    return this.#one("Cast", [this.#size(dims)], [1], { to: FLOAT });
  }

  /** One dimension may have a name that no input has. ONNX infers it. */
  reshape(x: Value, dims: Dims): Value {
    const names = dims.filter((dim) => typeof dim === "string");
    const free = names.length === 1 ? names[0] : names.find((name) => !this.#isKnown(name));
    const shape = this.shape(dims.map((dim) => (dim === free ? -1 : dim)));
    return this.node("Reshape", [x, shape], [{ type: x.type, dims }])[0]!;
  }

  transpose(x: Value, perm: readonly number[]): Value {
    return this.#one(
      "Transpose",
      [x],
      perm.map((axis) => x.dims[axis]!),
      { perm },
    );
  }

  expand(x: Value, dims: Dims): Value {
    return this.#one("Expand", [x, this.shape(dims)], dims);
  }

  zeros(dims: Dims): Value {
    return this.#one("ConstantOfShape", [this.shape(dims)], dims);
  }

  concat(parts: readonly Value[], axis: number, dim: Dim): Value {
    const [first] = parts;
    if (parts.length === 1 && first!.dims[axis] === dim) return first!;
    const dims = first!.dims.with(axis, dim);
    return this.node("Concat", parts, [{ type: first!.type, dims }], { axis })[0]!;
  }

  /** Splits x along an axis into parts of these lengths. */
  split(x: Value, axis: number, dims: Dims): Value[] {
    if (dims.length === 1 && x.dims[axis] === dims[0]) return [x];
    const parts = dims.map((dim) => ({ type: x.type, dims: x.dims.with(axis, dim) }));
    return this.node("Split", [x, this.shape(dims)], parts, { axis });
  }

  /** The first dims[i] entries of every axis. */
  corner(x: Value, dims: Dims): Value {
    const zeros = this.#integers(dims.map(() => 0));
    return this.node("Slice", [x, zeros, this.shape(dims)], [{ type: x.type, dims }])[0]!;
  }

  #one(
    op: string,
    inputs: readonly Value[],
    dims: Dims,
    attributes: Node["attributes"] = {},
    domain = "",
  ): Value {
    return this.node(op, inputs, [{ dims }], attributes, domain)[0]!;
  }

  #reduce(op: string, x: Value, axes: readonly number[], keepdims: boolean): Value {
    const at = axes.map((axis) => (axis < 0 ? axis + x.dims.length : axis));
    const kept = x.dims.map((dim, axis) => (at.includes(axis) ? 1 : dim));
    const dims = keepdims ? kept : x.dims.filter((_, axis) => !at.includes(axis));
    return this.#one(op, [x, this.#integers(axes)], dims, { keepdims: Number(keepdims) });
  }

  #integers(values: readonly number[]): Value {
    return this.constant({ dims: [values.length], data: BigInt64Array.from(values, BigInt) });
  }

  /** The product of dimensions as an int64 vector of length 1. */
  #size(dims: Dims): Value {
    const shape = this.shape(dims);
    return this.node("ReduceProd", [shape], [{ type: "int64", dims: [1] }], { keepdims: 1 })[0]!;
  }

  #isKnown(name: string): boolean {
    return this.#defined.has(name) || this.inputs.some((input) => input.dims.includes(name));
  }

  #dimension(name: string): Value {
    const defined = this.#defined.get(name);
    if (defined) return defined;
    const source = this.inputs.find((input) => input.dims.includes(name));
    if (!source) throw new Error(`no input has the dimension ${name}`);
    const start = source.dims.indexOf(name);
    const dims = [{ type: "int64" as const, dims: [1] }];
    return this.node("Shape", [source], dims, { start, end: start + 1 })[0]!;
  }

  #name(kind: string): string {
    return `${kind}_${this.#values++}`;
  }
}

/** ONNX's number for float32, used by Cast. */
const FLOAT = 1;

/** The product of dimensions. If a factor has a name, the product is named after its factors. */
function product(dims: Dims): Dim {
  if (dims.length === 1) return dims[0]!;
  if (dims.every((dim) => typeof dim === "number")) return dims.reduce((a, b) => a * b, 1);
  return dims.join("*");
}

function broadcast(a: Dims, b: Dims): Dims {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const p = a[axis - rank + a.length] ?? 1;
    const q = b[axis - rank + b.length] ?? 1;
    if (p !== q && p !== 1 && q !== 1) throw new Error(`[${a}] and [${b}] do not broadcast`);
    return p === 1 ? q : p;
  });
}

function lastTwo({ dims }: Value, transposed = false): [Dim, Dim] {
  const [rows, columns] = [dims.at(-2)!, dims.at(-1)!];
  return transposed ? [columns, rows] : [rows, columns];
}

function agree(op: string, a: Dim, b: Dim): void {
  if (a !== b) throw new Error(`${op}: inner dimensions ${a} and ${b} differ`);
}

function typeOf(data: Constant["data"]): ElementType {
  if (data instanceof Float32Array) return "float32";
  if (data instanceof Int32Array) return "int32";
  if (data instanceof BigInt64Array) return "int64";
  return data instanceof Int8Array ? "int8" : "uint8";
}
