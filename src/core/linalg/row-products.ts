import {
  add,
  addPairs,
  assemble,
  type Code,
  constant,
  createMemory,
  differs,
  get,
  I32,
  loadI32,
  loadPair,
  loadTwice,
  loop,
  multiplyPairs,
  pagesFor,
  set,
  storePair,
  storeSum,
  V128,
  type WasmFunction,
  type WasmMemory,
  zeros,
} from "./wasm.ts";

/**
 * Rows x_i of d numbers, and the linear map from theta to x_i . (theta o a_k) for K fixed
 * vectors a_k, with its transpose. The kernels are WebAssembly that works on two numbers per
 * instruction and on several rows at a time, so that a number which was loaded is used more than
 * once. Every sum adds its terms in a fixed order, which row-products.test.ts repeats in plain loops.
 */
export class RowProducts {
  readonly #d: number;
  readonly #K: number;
  /** K, rounded up to whole pairs. */
  readonly #width: number;
  readonly #rowBytes: number;
  readonly #at: ReturnType<typeof layoutOf>;
  readonly #memory: WasmMemory;
  readonly #functions: ReturnType<typeof assemble>;
  /** Number of rows with a coefficient, per k. */
  readonly #counts: Int32Array;
  #numbers: Float64Array;
  #addresses: Int32Array;
  #length = 0;

  constructor(a: readonly Float64Array[]) {
    this.#d = a[0]!.length;
    this.#K = a.length;
    this.#width = 2 * Math.ceil(this.#K / 2);
    this.#rowBytes = 8 * STRIDE * Math.ceil(this.#d / STRIDE);
    this.#at = layoutOf(this.#width, this.#rowBytes);
    this.#memory = createMemory(this.#at.rows + 64 * this.#rowBytes);
    const kernels = [SCALE, multiplyRows(this.#width, this.#rowBytes), ADD_ROWS];
    this.#functions = assemble(kernels, this.#memory);
    this.#counts = new Int32Array(this.#K);
    this.#numbers = new Float64Array(this.#memory.buffer);
    this.#addresses = new Int32Array(this.#memory.buffer);
    for (const [k, row] of a.entries()) {
      this.#numbers.set(row, (this.#at.a + k * this.#rowBytes) / 8);
    }
  }

  push(row: Float64Array): void {
    const at = this.#address(this.#length++);
    const missing = at + this.#rowBytes - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.max(pagesFor(missing), pagesFor(this.#memory.buffer.byteLength)));
      this.#numbers = new Float64Array(this.#memory.buffer);
      this.#addresses = new Int32Array(this.#memory.buffer);
    }
    this.#numbers.set(row, at / 8);
  }

  /** out[b, k] = x_batch[b] . (theta o a_k) */
  multiply(theta: Float64Array, batch: Int32Array, out: Float64Array): void {
    const at = this.#at;
    const K = this.#K;
    const width = this.#width;
    const numbers = this.#numbers;
    const addresses = this.#addresses;
    numbers.set(theta, at.theta / 8);
    for (let k = 0; k < K; k++) {
      const from = k * this.#rowBytes;
      this.#functions.scale!(from, from + this.#rowBytes, at.a + from, at.theta);
    }
    for (let from = 0; from < batch.length; from += BLOCK) {
      const count = Math.min(BLOCK, batch.length - from);
      const whole = 4 * Math.ceil(count / 4);
      for (let b = 0; b < whole; b++) {
        // The last four rows are filled up with the last one.
        addresses[at.batch / 4 + b] = this.#address(batch[from + Math.min(b, count - 1)]!);
      }
      this.#functions.multiplyRows!(at.batch, at.batch + 4 * whole, at.out);
      for (let b = 0; b < count; b++) {
        const source = at.out / 8 + b * width;
        const target = (from + b) * K;
        for (let k = 0; k < K; k++) out[target + k] = numbers[source + k]!;
      }
    }
  }

  /** out <- out + sum_k a_k o (sum_b C[b, k] x_batch[b]). Entries of C that are 0 take no time. */
  addTransposed(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const at = this.#at;
    const d = this.#d;
    const K = this.#K;
    const counts = this.#counts;
    const numbers = this.#numbers;
    const addresses = this.#addresses;
    const sumAt = at.sum / 8;
    numbers.fill(0, sumAt, sumAt + d);
    for (let from = 0; from < batch.length; from += BLOCK) {
      const end = Math.min(from + BLOCK, batch.length);
      counts.fill(0);
      for (let b = from; b < end; b++) {
        const address = this.#address(batch[b]!);
        for (let k = 0; k < K; k++) {
          const c = C[b * K + k]!;
          if (c === 0) continue;
          const place = k * BLOCK + counts[k]!++;
          addresses[at.list / 4 + place] = address;
          numbers[at.coefficients / 8 + place] = c;
        }
      }
      for (let k = 0; k < K; k++) {
        if (counts[k] === 0) continue;
        const list = at.list + 4 * BLOCK * k;
        const coefficients = at.coefficients + 8 * BLOCK * k;
        const a = at.a + k * this.#rowBytes;
        const listEnd = list + 4 * counts[k]!;
        this.#functions.addRows!(list, listEnd, coefficients, a, this.#rowBytes, at.sum);
      }
    }
    for (let i = 0; i < d; i++) out[i]! += numbers[sumAt + i]!;
  }

  #address(row: number): number {
    return this.#at.rows + row * this.#rowBytes;
  }
}

/** Rows per call of a kernel. */
const BLOCK = 128;
/** Rows are filled up with zeros to a multiple of so many numbers, which `addRows` keeps in registers. */
const STRIDE = 16;

/** The addresses in memory: theta o a_k for all k at 0, then these. */
function layoutOf(width: number, rowBytes: number) {
  const a = width * rowBytes;
  const theta = a + width * rowBytes;
  const sum = theta + rowBytes;
  const out = sum + rowBytes;
  const coefficients = out + 8 * width * BLOCK;
  const list = coefficients + 8 * width * BLOCK;
  const batch = list + 4 * width * BLOCK;
  const rows = 16 * Math.ceil((batch + 4 * BLOCK) / 16);
  return { a, theta, sum, out, coefficients, list, batch, rows };
}

const step = (local: number, bytes: number): Code => set(local, add(get(local), constant(bytes)));

/** scale(y, yEnd, a, theta): y = a o theta. */
const SCALE: WasmFunction = scale();

function scale(): WasmFunction {
  const [y, yEnd, a, theta] = [0, 1, 2, 3] as const;
  return {
    name: "scale",
    parameters: [I32, I32, I32, I32],
    locals: [],
    body: [
      loop(
        [
          storePair(get(y), multiplyPairs(loadPair(get(a)), loadPair(get(theta)))),
          ...[y, a, theta].map((local) => step(local, 16)),
        ],
        differs(get(y), get(yEnd)),
      ),
    ],
  };
}

/**
 * multiplyRows(batch, batchEnd, out): the products of the rows whose addresses are in the batch,
 * four at a time, with the rows of the matrix at address 0, two at a time. A product has one sum
 * of the terms with even i and one of those with odd i, and adds both at the end.
 */
function multiplyRows(width: number, rowBytes: number): WasmFunction {
  const [batch, batchEnd, out, w, wEnd] = [0, 1, 2, 3, 4] as const;
  const rows = [5, 6, 7, 8];
  const [left, right] = [9, 10] as const;
  const sums = rows.map((_, r) => [11 + 2 * r, 12 + 2 * r] as const);
  const x = 19;
  /** Handles the pair of numbers at this offset. */
  const terms = (offset: number): Code[] => [
    set(left, loadPair(get(w), offset)),
    set(right, loadPair(get(w), offset + rowBytes)),
    ...rows.flatMap((row, r) => [
      set(x, loadPair(get(row), offset)),
      ...[left, right].map((column, c) => {
        const sum = sums[r]![c]!;
        return set(sum, addPairs(get(sum), multiplyPairs(get(x), get(column))));
      }),
    ]),
  ];
  const columns = loop(
    [
      ...rows.map((row, r) => set(row, loadI32(get(batch), 4 * r))),
      ...sums.flat().map((sum) => set(sum, zeros)),
      set(wEnd, add(get(w), constant(rowBytes))),
      loop(
        [...[0, 16, 32, 48].flatMap(terms), ...[w, ...rows].map((local) => step(local, 64))],
        differs(get(w), get(wEnd)),
      ),
      ...sums.flatMap((pair, r) =>
        pair.map((sum, c) => storeSum(get(out), get(sum), 8 * (width * r + c))),
      ),
      step(w, rowBytes),
      step(out, 16),
    ],
    differs(get(w), constant(width * rowBytes)),
  );
  return {
    name: "multiplyRows",
    parameters: [I32, I32, I32],
    locals: [I32, I32, I32, I32, I32, I32, ...Array<number>(11).fill(V128)],
    body: [
      loop(
        [set(w, constant(0)), columns, step(out, 3 * 8 * width), step(batch, 16)],
        differs(get(batch), get(batchEnd)),
      ),
    ],
  };
}

/**
 * addRows(list, listEnd, coefficients, a, rowBytes, y): y += a o (sum_j c_j x_j), with x_j the
 * rows whose addresses are in the list, in their order. It computes 16 numbers of the sum at a time.
 */
const ADD_ROWS: WasmFunction = addRows();

function addRows(): WasmFunction {
  const [list, listEnd, coefficients, a, rowBytes, y] = [0, 1, 2, 3, 4, 5] as const;
  const [place, entry, coefficient, row, c] = [6, 7, 8, 9, 10] as const;
  const sums = Array.from({ length: STRIDE / 2 }, (_, s) => 11 + s);
  return {
    name: "addRows",
    parameters: [I32, I32, I32, I32, I32, I32],
    locals: [I32, I32, I32, I32, ...Array<number>(1 + sums.length).fill(V128)],
    body: [
      loop(
        [
          ...sums.map((sum) => set(sum, zeros)),
          set(entry, get(list)),
          set(coefficient, get(coefficients)),
          loop(
            [
              set(row, add(loadI32(get(entry)), get(place))),
              set(c, loadTwice(get(coefficient))),
              ...sums.map((sum, s) =>
                set(sum, addPairs(get(sum), multiplyPairs(get(c), loadPair(get(row), 16 * s)))),
              ),
              step(entry, 4),
              step(coefficient, 8),
            ],
            differs(get(entry), get(listEnd)),
          ),
          ...sums.map((sum, s) => {
            const term = multiplyPairs(get(sum), loadPair(get(a), 16 * s));
            return storePair(get(y), addPairs(loadPair(get(y), 16 * s), term), 16 * s);
          }),
          ...[a, y, place].map((local) => step(local, 8 * STRIDE)),
        ],
        differs(get(place), get(rowBytes)),
      ),
    ],
  };
}
