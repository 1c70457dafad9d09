import { fitBradleyTerry, type GaussianRatings, gaussian } from "../bradley-terry.ts";
import { alignPairs, nearestCategory } from "../categories.ts";
import type { Votes } from "../memory.ts";
import { type About, alignModels, type Comparison, type PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = { ...RANKING_DEFAULTS, globalSd: 0.3, clusterSd: 0.6 };

const ABOUT: About<typeof DEFAULTS> = {
  ...RANKING_ABOUT,
  globalSd: {
    meaning: "prior standard deviation of the global rating of a model, in logits",
    above: 0,
  },
  clusterSd: {
    meaning:
      "prior standard deviation of its rating in a category, around the global one, in logits",
    above: 0,
  },
};

/**
 * One Bradley-Terry ranking per cluster of queries, as the Avengers (Zhang et al. 2025)
 * score models per cluster, with votes instead of scores. Deviations: the clusters are
 * the categories instead of k-means clusters, and the ratings in a cluster are shrunk
 * towards the global ratings.
 */
export const clusterBradleyTerry: PolicyKind<typeof DEFAULTS> = {
  name: "cluster-bradley-terry",
  summary: "Bradley-Terry ratings per category, shrunk towards global ratings",
  source: "The Avengers (Zhang et al. 2025), on votes",
  defaults: DEFAULTS,
  about: ABOUT,
  create(pool, options) {
    const K = pool.models.length;
    const categoryOf = nearestCategory(pool);
    const zero = new Float64Array(K);
    const precision = options.clusterSd ** -2;
    let tallies = pool.categories.map(() => newTally(K));
    let global: GaussianRatings | undefined;
    return rankingPolicy(pool, options, {
      rate(x) {
        global ??= fitBradleyTerry(votesOf(tallies, K), zero, options.globalSd ** -2);
        const own = votesOf([tallies[categoryOf(x)]!], K);
        const local = fitBradleyTerry(own, global.mean, precision);
        return gaussian(local.mean, marginal(local.covariance, global.covariance, precision));
      },
      learn(x, comparison, offset) {
        count(tallies[categoryOf(x)]!, K, comparison, offset);
        global = undefined;
      },
      snapshot: () => structuredClone({ categories: pool.categories, tallies }),
      restore(state, from) {
        const before = state as { categories: readonly string[]; tallies: readonly Tally[] };
        const index = alignModels(from, pool.models);
        tallies = alignModels(before.categories, pool.categories).map((m) =>
          m < 0 ? newTally(K) : aligned(before.tallies[m]!, index),
        );
        global = undefined;
      },
    });
  },
};

/** Sums over the votes of a cluster, as K x K tables. Entry (a, b) is about a against b; both orders are stored. */
interface Tally {
  readonly weight: Float64Array;
  readonly win: Float64Array;
  readonly offset: Float64Array;
}

function newTally(K: number): Tally {
  const table = () => new Float64Array(K * K);
  return { weight: table(), win: table(), offset: table() };
}

function count(tally: Tally, K: number, { a, b, win, weight }: Comparison, offset: number): void {
  const ab = a * K + b;
  const ba = b * K + a;
  tally.weight[ab]! += weight;
  tally.weight[ba]! += weight;
  tally.win[ab]! += weight * win;
  tally.win[ba]! += weight * (1 - win);
  tally.offset[ab]! += weight * offset;
  tally.offset[ba]! -= weight * offset;
}

/**
 * Returns one row per pair of models and cluster. All votes of a row get their mean
 * offset, which is exact if the told scores depend on the cluster only.
 */
function votesOf(tallies: readonly Tally[], K: number): Votes {
  const rows: { a: number; b: number; tally: Tally; at: number }[] = [];
  for (const tally of tallies) {
    for (let a = 0; a < K; a++) {
      for (let b = a + 1; b < K; b++) {
        if (tally.weight[a * K + b]! > 0) rows.push({ a, b, tally, at: a * K + b });
      }
    }
  }
  return {
    size: rows.length,
    a: Int32Array.from(rows, ({ a }) => a),
    b: Int32Array.from(rows, ({ b }) => b),
    win: Float64Array.from(rows, ({ tally, at }) => tally.win[at]! / tally.weight[at]!),
    weight: Float64Array.from(rows, ({ tally, at }) => tally.weight[at]!),
    offset: Float64Array.from(rows, ({ tally, at }) => tally.offset[at]! / tally.weight[at]!),
  };
}

/**
 * Returns the covariance of the ratings in a cluster, given that their prior mean is
 * uncertain itself: the fit moves by precision * C per unit of the prior mean, so
 * Var = C + precision^2 C G C.
 */
function marginal(C: Float64Array, G: Float64Array, precision: number): Float64Array {
  const K = Math.sqrt(C.length);
  const product = (A: Float64Array, B: Float64Array) => {
    const out = new Float64Array(K * K);
    for (let i = 0; i < K; i++) {
      for (let j = 0; j < K; j++) {
        for (let k = 0; k < K; k++) out[i * K + j]! += A[i * K + k]! * B[k * K + j]!;
      }
    }
    return out;
  };
  return product(product(C, G), C).map((value, i) => C[i]! + precision ** 2 * value);
}

/** Reorders a tally for another list of models; `index` is the previous position of each. */
function aligned({ weight, win, offset }: Tally, index: readonly number[]): Tally {
  const take = (table: Float64Array) => alignPairs(table, index);
  return { weight: take(weight), win: take(win), offset: take(offset) };
}
