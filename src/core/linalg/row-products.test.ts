import { expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { RowProducts } from "./row-products.ts";

const SHAPES = [
  { d: 1, K: 1, rows: 1 },
  { d: 2, K: 3, rows: 5 },
  { d: 7, K: 10, rows: 130 },
  { d: 384, K: 10, rows: 300 },
  { d: 398, K: 9, rows: 70 },
  { d: 31, K: 40, rows: 129 },
];

it.each(SHAPES)(
  "products of $rows rows of length $d with $K vectors equal those of plain loops bit for bit",
  (shape) => {
    const { products, x, a, batch, random } = filled(shape);
    const { d, K } = shape;
    const theta = normals(d, random);
    const out = new Float64Array(batch.length * K);
    products.multiply(theta, batch, out);
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < K; k++) {
        const sums = [0, 0];
        for (let i = 0; i < d; i++) {
          sums[i % 2]! += x[batch[b]!]![i]! * (theta[i]! * a[k]![i]!);
        }
        expect(out[b * K + k]).toBe(sums[0]! + sums[1]!);
      }
    }
  },
);

it.each(SHAPES)(
  "sums of $rows rows of length $d equal those of plain loops bit for bit",
  (shape) => {
    const { products, x, a, batch, random } = filled(shape);
    const { d, K } = shape;
    const C = normals(batch.length * K, random).map((c, at) => (at % 3 === 0 ? 0 : c));
    const before = normals(d, random);
    const out = before.slice();
    products.addTransposed(C, batch, out);
    for (let i = 0; i < d; i++) {
      let total = 0;
      for (let from = 0; from < batch.length; from += 128) {
        const block = batch.subarray(from, from + 128);
        for (let k = 0; k < K; k++) {
          let sum = 0;
          for (const [b, row] of block.entries()) sum += C[(from + b) * K + k]! * x[row]![i]!;
          total += a[k]![i]! * sum;
        }
      }
      expect(out[i]).toBe(before[i]! + total);
    }
  },
);

it("adds nothing for an empty batch", () => {
  const { products } = filled({ d: 3, K: 2, rows: 4 });
  const out = Float64Array.of(1, 2, 3);
  products.addTransposed(new Float64Array(0), new Int32Array(0), out);
  expect([...out]).toEqual([1, 2, 3]);
});

function filled({ d, K, rows }: (typeof SHAPES)[number]) {
  const random = Random.seeded(d + K);
  const a = Array.from({ length: K }, () => normals(d, random));
  const products = new RowProducts(a);
  const x = Array.from({ length: rows }, () => normals(d, random));
  for (const row of x) products.push(row);
  const batch = Int32Array.from({ length: 2 * rows }, () => random.integer(rows));
  return { products, x, a, batch, random };
}

function normals(n: number, random: Random): Float64Array {
  return Float64Array.from({ length: n }, () => random.normal());
}
