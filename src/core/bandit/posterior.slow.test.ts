import { expect, it } from "vitest";
import { cholesky, transpose } from "../linalg/reference.ts";
import { Random } from "../random/random.ts";
import { GaussianPosterior } from "./posterior.ts";

const D = 8;
const UPDATES = 1_000_000;

/** Ranges of the sizes and weights, which are drawn for each vote. */
const CASES = [
  { name: "ordinary votes", sizes: [0.5], weights: [1] },
  { name: "heavy votes on few directions", sizes: [1], weights: [1e6], directions: 5 },
  { name: "every size and weight", sizes: [0, 1e-8, 1, 1e8], weights: [0, 1, 1e6], directions: 20 },
];

it.each(CASES)("a million updates leave the covariance definite: $name", (options) => {
  const { sizes, weights, directions } = options;
  const random = Random.seeded(1);
  const draw = () => Float64Array.from({ length: D }, () => random.normal());
  const fixed = Array.from({ length: directions ?? 0 }, draw);
  const posterior = GaussianPosterior.independent(new Float64Array(D), new Float64Array(D).fill(1));
  for (let t = 1; t <= UPDATES; t++) {
    const direction = directions ? fixed[random.integer(directions)]! : draw();
    const size = sizes[random.integer(sizes.length)]!;
    const v = direction.map((value) => size * value);
    posterior.update(v, random.integer(3) / 2, weights[random.integer(weights.length)]!);
    if (t % 10_000 === 0) expectDefinite(posterior);
  }
});

function expectDefinite({ mean, covariance }: GaussianPosterior): void {
  expect(mean.every(Number.isFinite)).toBe(true);
  expect(covariance).toEqual(transpose(covariance, D, D));
  const L = cholesky(covariance, D); // has NaN or 0 if a pivot is not positive
  for (let i = 0; i < D; i++) expect(L[i * D + i]).toBeGreaterThan(0);
}
