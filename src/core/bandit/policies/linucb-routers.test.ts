import { describe, expect, it } from "vitest";
import { cholesky } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import { categoryMembership } from "../features.ts";
import { metaLlm } from "./metallm.ts";
import { mixLlm } from "./mixllm.ts";
import { at, candidates, K, pool, type RandomVote, randomDuels, taught } from "./votes.case.ts";

const unit = (x: Float64Array) => [...x].map((value) => value / Math.hypot(...x));
const tags = categoryMembership(pool.centroids);

describe.each([
  { kind: metaLlm, context: (x: Float64Array) => [...unit(x), 1] },
  { kind: mixLlm, context: (x: Float64Array) => [...unit(x), ...tags(x)] },
])("$kind.name", ({ kind, context }) => {
  it("plays the largest mean + alpha width of ridges fitted to all rewards, then the best other bound", () => {
    const votes = randomDuels(120, 1);
    const alpha = 0.7;
    const policy = taught(kind, votes, { alpha, lambda: 2, scale: 5 });
    for (let t = 600; t < 620; t++) {
      const { x } = at(t);
      const arms = candidates.map((k) => direct(votes, k, context, 2, x));
      const bounds = arms.map(({ mean, width }) => mean + alpha * width);
      const first = bounds.indexOf(Math.max(...bounds));
      const rivals = bounds.map((bound, k) => (k === first ? arms[k]!.mean : bound));
      const second = rivals.indexOf(Math.max(...rivals));
      const { pair, values } = policy.choose({ x, candidates }, Random.seeded(t));
      expect(pair).toEqual([first, second]);
      arms.forEach(({ mean }, k) => {
        expect(values![k]).toBeCloseTo((mean - 0.5) * (4 / 5), 8);
      });
    }
  });

  it("learns from ratings only", () => {
    const policy = taught(kind, []);
    for (let t = 0; t < 300; t++) {
      const { x, m } = at(t);
      const model = t % K;
      policy.learn({ kind: "rating", x, model, rating: model === m ? 1 : -1 }, Random.seeded(t));
    }
    for (let t = 600; t < 620; t++) {
      const { x, m } = at(t);
      expect(policy.choose({ x, candidates }, Random.seeded(t)).pair[0]).toBe(m);
    }
  });
});

/**
 * Computes mean and width of an arm at x from all its rewards. No scores are told, so a
 * reward is 1/2 plus the part that the ridge explains.
 */
function direct(
  votes: readonly RandomVote[],
  k: number,
  context: (x: Float64Array) => number[],
  lambda: number,
  x: Float64Array,
): { mean: number; width: number } {
  const e = context(x);
  const d = e.length;
  const A = new Float64Array(d * d);
  const b = new Float64Array(d);
  for (let i = 0; i < d; i++) A[i * d + i] = lambda;
  for (const vote of votes) {
    if (vote.a !== k && vote.b !== k) continue;
    const reward = vote.a === k ? vote.win : 1 - vote.win;
    const f = context(vote.x);
    for (let i = 0; i < d; i++) {
      b[i]! += vote.weight * (reward - 0.5) * f[i]!;
      for (let j = 0; j < d; j++) A[i * d + j]! += vote.weight * f[i]! * f[j]!;
    }
  }
  const L = cholesky(A, d);
  const u = halfSolve(L, Float64Array.from(e));
  const v = halfSolve(L, b);
  const product = (p: Float64Array, q: Float64Array) =>
    p.reduce((s, value, i) => s + value * q[i]!, 0);
  return { mean: 0.5 + product(u, v), width: Math.sqrt(product(u, u)) };
}

/** Computes L^-1 v: x A^-1 b is (L^-1 x) . (L^-1 b). */
function halfSolve(L: Float64Array, v: Float64Array): Float64Array {
  const d = v.length;
  const out = v.slice();
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < i; j++) out[i]! -= L[i * d + j]! * out[j]!;
    out[i]! /= L[i * d + i]!;
  }
  return out;
}
