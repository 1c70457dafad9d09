import { expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { RowProducts } from "./row-products.ts";

const SHAPES = [
  { d: 1, columns: 1, rows: 1 },
  { d: 2, columns: 3, rows: 5 },
  { d: 7, columns: 10, rows: 130 },
  { d: 384, columns: 10, rows: 300 },
  { d: 398, columns: 9, rows: 70 },
  { d: 31, columns: 40, rows: 129 },
];

it.each(SHAPES)(
  "products of $rows rows of length $d with $columns columns equal those of plain loops bit for bit",
  (shape) => {
    const { products, x, random } = filled(shape);
    const { d, columns, rows } = shape;
    const left = normals(d, random);
    const right = normals(columns * d, random);
    const batch = Int32Array.from({ length: 2 * rows }, () => random.integer(rows));
    const out = new Float64Array(batch.length * columns);
    products.setMatrix(left, right);
    products.multiply(batch, out);
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < columns; k++) {
        let expected = 0;
        for (let i = 0; i < d; i++) expected += x[batch[b]!]![i]! * (left[i]! * right[k * d + i]!);
        expect(out[b * columns + k]).toBe(expected);
      }
    }
  },
);

it.each(SHAPES)(
  "sums of $rows rows of length $d equal those of plain loops bit for bit",
  (shape) => {
    const { products, x, random } = filled(shape);
    const n = shape.rows;
    const rows = Int32Array.from({ length: n + 3 }, () => random.integer(n));
    const c = normals(n + 3, random);
    const [r, a] = [rows.slice(), c.slice(0, n)];
    const sum = products.sum(rows, c, n);
    const term = (j: number, i: number) => (j < n ? a[j]! * x[r[j]!]![i]! : 0);
    for (let i = 0; i < shape.d; i++) {
      let expected = 0;
      for (let j = 0; j < n; j += 4) {
        expected += term(j, i) + term(j + 1, i) + (term(j + 2, i) + term(j + 3, i));
      }
      expect(sum[i]).toBe(expected);
    }
  },
);

function filled({ d, columns, rows }: (typeof SHAPES)[number]) {
  const random = Random.seeded(d + columns);
  const products = new RowProducts(d, columns);
  const x = Array.from({ length: rows }, () => normals(d, random));
  for (const row of x) products.push(row);
  return { products, x, random };
}

function normals(n: number, random: Random): Float64Array {
  return Float64Array.from({ length: n }, () => random.normal());
}
