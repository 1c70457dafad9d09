import { expect, it } from "vitest";
import { Random } from "../../../core/random/random.ts";
import { affinities, gradient, tsne } from "./tsne.ts";

const random = Random.seeded(1);

/** `count` points around each corner of a simplex. */
function clusters(corners: number, count: number, sd: number): Float64Array[] {
  return Array.from({ length: corners * count }, (_, i) =>
    Float64Array.from(
      { length: 8 },
      (_, k) => (k === Math.floor(i / count) ? 1 : 0) + sd * random.normal(),
    ),
  );
}

const divergence = (p: Float64Array, y: Float64Array) => gradient(p, y, 3, 1).divergence;

it("gives every point as many neighbours as the perplexity says, and p sums to 1", () => {
  const x = clusters(3, 10, 0.3);
  const p = affinities(x, 5);
  const n = x.length;
  expect(p.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) expect(p[i * n + j]).toBe(p[j * n + i]);
    expect(p[i * n + i]).toBe(0);
  }
  // Equidistant points are all equally near, whatever the perplexity.
  const equal = affinities(
    [0, 1, 2].map((k) => Float64Array.from({ length: 3 }, (_, i) => +(i === k))),
    1.5,
  );
  for (const value of equal) if (value > 0) expect(value).toBeCloseTo(1 / 6, 12);
});

it("follows the gradient of the divergence", () => {
  const p = affinities(clusters(3, 4, 0.3), 3);
  const y = Float64Array.from({ length: 36 }, () => random.normal());
  const { gradient: g } = gradient(p, y, 3, 1);
  for (let i = 0; i < y.length; i += 5) {
    const [up, down] = [y.slice(), y.slice()];
    up[i]! += 1e-5;
    down[i]! -= 1e-5;
    expect(g[i]).toBeCloseTo((divergence(p, up) - divergence(p, down)) / 2e-5, 7);
  }
});

it("sets clusters apart, and is the same for the same generator", () => {
  const x = clusters(4, 15, 0.1);
  const options = { dimensions: 3, perplexity: 10, iterations: 300 };
  const { points, divergence } = tsne(x, options, Random.seeded(2));
  expect(tsne(x, options, Random.seeded(2)).points).toEqual(points);
  const distance = (i: number, j: number) =>
    Math.hypot(...[0, 1, 2].map((k) => points[3 * i + k]! - points[3 * j + k]!));
  for (let i = 0; i < x.length; i++) {
    const others = [...x.keys()]
      .filter((j) => j !== i)
      .sort((a, b) => distance(i, a) - distance(i, b));
    expect(Math.floor(others[0]! / 15)).toBe(Math.floor(i / 15));
  }
  expect(divergence).toBeLessThan(0.5);
  for (let k = 0; k < 3; k++) {
    const sum = x.reduce((total, _, i) => total + points[3 * i + k]!, 0);
    expect(sum).toBeCloseTo(0, 8);
  }
});
