import { exactLog, type Random } from "../../random/random.ts";
import { sigmoid } from "../btl.ts";
import { alignPairs, nearestCategory } from "../categories.ts";
import { fillUnknown } from "../features.ts";
import {
  type About,
  alignModels,
  argmax,
  comparisonsOf,
  type PolicyKind,
  type Pool,
} from "../policy.ts";

const DEFAULTS = { alpha: 0.51, prior: 20, scale: 5 };

const ABOUT: About<typeof DEFAULTS> = {
  alpha: { meaning: "width of the confidence bounds; the theory requires more than 0.5", min: 0 },
  prior: {
    meaning: "number of duels per pair that the told scores count as; 0 ignores them",
    min: 0,
  },
  scale: {
    meaning: "assumed vote scale, which turns told scores and penalties into win probabilities",
    above: 0,
  },
};

/**
 * Double Thompson Sampling (Wu & Liu 2016, Algorithm 1), one instance per category; a
 * query belongs to the category with the nearest centroid. B_ij counts how often i
 * beat j.
 *
 * Deviations: told scores are pseudo-counts, prior * sigmoid(scale (told_i - told_j))
 * wins of i over j. With penalties, i is preferred to j if its win probability is above
 * h_ij = sigmoid(scale (penalty_i - penalty_j)) instead of 1/2. The time t counts the
 * duels and pseudo-duels of the category, because a model chosen twice brings no vote.
 */
export const doubleTs: PolicyKind<typeof DEFAULTS> = {
  name: "double-ts",
  summary: "Double Thompson Sampling, one instance per category",
  source: "Wu & Liu 2016",
  defaults: DEFAULTS,
  about: ABOUT,
  create(pool, options) {
    const K = pool.models.length;
    const categoryOf = nearestCategory(pool);
    const prior = pseudoCounts(pool, options);
    let votes: Float64Array[] = pool.categories.map(() => new Float64Array(K * K));
    return {
      choose({ x, candidates, penalty }, random) {
        const m = categoryOf(x);
        const B = votes[m]!.map((count, at) => count + prior[m]![at]!);
        const logits = penalty ? penalty.map((p) => options.scale * p) : new Float64Array(K);
        return {
          pair: doubleThompson(B, candidates, logits, options.alpha, random),
          values: meanLogits(B, K).map((logit) => logit / options.scale),
        };
      },
      learn(feedback) {
        const B = votes[categoryOf(feedback.x)]!;
        for (const { a, b, win, weight } of comparisonsOf(feedback)) {
          B[a * K + b]! += weight * win;
          B[b * K + a]! += weight * (1 - win);
        }
      },
      snapshot: () => ({
        models: pool.models,
        state: structuredClone({ categories: pool.categories, votes }),
      }),
      restore({ models, state }) {
        const before = state as { categories: readonly string[]; votes: Float64Array[] };
        const index = alignModels(models, pool.models);
        const none = new Float64Array(models.length ** 2);
        votes = alignModels(before.categories, pool.categories).map((m) =>
          alignPairs(before.votes[m] ?? none, index),
        );
      },
    };
  },
};

/** Chooses a pair by Algorithm 1; `penalty` is in logits. */
export function doubleThompson(
  B: Float64Array,
  candidates: readonly number[],
  penalty: Float64Array,
  alpha: number,
  random: Random,
): [number, number] {
  const K = Math.sqrt(B.length);
  const t = 1 + B.reduce((sum, count) => sum + count, 0);
  const wins = (i: number, j: number) => B[i * K + j]!;
  const even = (i: number, j: number) => sigmoid(penalty[i]! - penalty[j]!);
  const duels = (i: number, j: number) => wins(i, j) + wins(j, i);
  // The paper defines x/0 = 1, so without duels the bounds are 1 +- 1.
  const mean = (i: number, j: number) => (duels(i, j) > 0 ? wins(i, j) / duels(i, j) : 1);
  const radius = (i: number, j: number) =>
    duels(i, j) > 0 ? Math.sqrt((alpha * Math.log(t)) / duels(i, j)) : 1;
  const beats = (i: number, bound: (j: number) => number) =>
    candidates.filter((j) => j !== i && bound(j) > even(i, j)).length;
  const sample = (i: number, j: number) => beta(wins(i, j) + 1, wins(j, i) + 1, random);

  // First model: the winner of a sampled tournament, among the largest upper bounds of the Copeland score.
  const zeta = candidates.map((i) => beats(i, (j) => mean(i, j) + radius(i, j)));
  const top = Math.max(...zeta);
  const theta = new Float64Array(K * K);
  candidates.forEach((i, p) => {
    for (const j of candidates.slice(p + 1)) {
      theta[i * K + j] = sample(i, j);
      theta[j * K + i] = 1 - theta[i * K + j]!;
    }
  });
  const likely = candidates.filter((_, p) => zeta[p] === top);
  const first = argmax(likely, (i) => beats(i, (j) => theta[i * K + j]!), random);

  // Second model: the best new sample against the first, among those that may lose to it.
  const open = candidates.filter(
    (i) => i === first || mean(i, first) - radius(i, first) <= even(i, first),
  );
  const gain = (i: number) => {
    if (i === first) return 0;
    const p = sample(i, first);
    return Math.log(p / (1 - p)) - (penalty[i]! - penalty[first]!);
  };
  return [first, argmax(open, gain, random)];
}

/** Draws from Beta(a, b), a, b >= 1, as a ratio of Gamma variables. */
export function beta(a: number, b: number, random: Random): number {
  const x = gamma(a, random);
  return x / (x + gamma(b, random));
}

/** Draws from Gamma(shape, 1), shape >= 1, by the method of Marsaglia and Tsang (2000). */
function gamma(shape: number, random: Random): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = random.normal();
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = random.uniform() + 2 ** -54;
    if (exactLog(u) < 0.5 * x * x + d - d * v + d * exactLog(v)) return d * v;
  }
}

/** Returns the mean logit of each model against the pool: under Bradley-Terry, its utility times the vote scale. */
function meanLogits(B: Float64Array, K: number): Float64Array {
  return Float64Array.from({ length: K }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < K; j++) sum += Math.log((B[i * K + j]! + 1) / (B[j * K + i]! + 1));
    return sum / K;
  });
}

function pseudoCounts(pool: Pool, { prior, scale }: typeof DEFAULTS): Float64Array[] {
  const K = pool.models.length;
  const told = pool.told && fillUnknown(pool.told);
  return pool.centroids.map((_, m) =>
    Float64Array.from({ length: K * K }, (_, at) => {
      const [i, j] = [Math.floor(at / K), at % K];
      return told && i !== j ? prior * sigmoid(scale * (told[i]![m]! - told[j]![m]!)) : 0;
    }),
  );
}
