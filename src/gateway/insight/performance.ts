import type { Band } from "../../api/common.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import { type PosteriorView, samplesOf, type TrafficQuery } from "./traffic.ts";

/**
 * Performance of routing. Quality has the unit of preference: if a model's quality is 0.1 higher
 * than another's, the probability that its answer is preferred is 0.1 higher than the probability
 * that the other's is. Votes show this unit directly. The factor between it and a unit of utility
 * (`margin`) differs between samples of the posterior.
 */
interface Performance {
  /** Quality that a request loses to the best model for it: E[max_k f_k - mean served f]. */
  readonly regret: Band;
  /** Probability that the served answer is preferred to the answer of a random candidate. */
  readonly winRate: Band;
  /** Mean quality served, relative to the pool's mean. */
  readonly quality: Band;
}

interface StretchPerformance extends Performance {
  /**
   * Reduction of regret since the first stretch, in the same samples, so that uncertainty about
   * the models cancels. The queries are resampled for each sample (bootstrap), because their
   * choice is random as well.
   */
  readonly fallen: Band & {
    /** Probability that regret has fallen. */
    readonly sure: number;
  };
}

/**
 * Performance on the recent queries according to the current posterior. Each sample is one truth
 * for all queries, so the bands hold for their mean. Undefined without queries, if nothing is known
 * about the models, or if the policy cannot sample its posterior.
 */
export function performanceOf(
  posterior: PosteriorView,
  traffic: readonly TrafficQuery[],
  random: Random,
): Performance | undefined {
  return performanceOfEach(posterior, [traffic], random)[0];
}

/** Whether votes or told scores distinguish the models. Without them every number would come from the prior. */
function isInformed({ pool, router, membership }: PosteriorView): boolean {
  if (pool.told) return true;
  return pool.centroids.some((x) =>
    router.policy.estimate?.(membership(x)).mean.some((value) => Math.abs(value) > 1e-12),
  );
}

/** Performance of several stretches of queries, in the same samples. */
export function performanceOfEach(
  posterior: PosteriorView,
  stretches: readonly (readonly TrafficQuery[])[],
  random: Random,
): (StretchPerformance | undefined)[] {
  const isEmpty = stretches.every(({ length }) => length === 0);
  const samples = isEmpty || !isInformed(posterior) ? [] : samplesOf(posterior, random, DRAWS);
  if (samples.length === 0) return stretches.map(() => undefined);
  const draws = samples.map((sample) => {
    return stretches.map((traffic) => {
      const performance = performanceIn(sample, traffic);
      return { ...performance, redrawn: redrawnMean(performance.regrets, random) };
    });
  });
  return stretches.map(({ length }, i) => {
    if (length === 0) return undefined;
    const own = draws.map((draw) => draw[i]!);
    const first = stretches.findIndex((traffic) => traffic.length > 0);
    return {
      regret: bandOf(own.map(({ regret }) => regret)),
      fallen: fallenOf(draws.map((draw) => draw[first]!.redrawn - draw[i]!.redrawn)),
      winRate: bandOf(own.map(({ wins }) => wins)),
      quality: bandOf(own.map(({ quality }) => quality)),
    };
  });
}

/** Means over the queries if the sample were the truth. */
function performanceIn(
  { scale, margin, utilities }: PosteriorSample,
  traffic: readonly TrafficQuery[],
) {
  const regrets = new Float64Array(traffic.length);
  let wins = 0;
  let quality = 0;
  let f: Float64Array | undefined;
  let strengths = new Float64Array(0);
  for (let i = 0; i < traffic.length; i++) {
    const { w, candidates, served } = traffic[i]!;
    f = utilities(w, f);
    let middle = 0;
    for (let k = 0; k < f.length; k++) middle += f[k]! / f.length;
    let best = -Infinity;
    for (const k of candidates) best = Math.max(best, f[k]!);
    // sigmoid(s (f_k - f_j)) = e_k / (e_k + e_j) with e = exp(s f): one exponential per model.
    if (strengths.length !== f.length) strengths = new Float64Array(f.length);
    for (let k = 0; k < f.length; k++) strengths[k] = Math.exp(scale * (f[k]! - middle));
    const share = 1 / served.length / traffic.length;
    for (const k of served) {
      regrets[i]! += (margin * (Math.max(best, f[k]!) - f[k]!)) / served.length;
      quality += share * margin * (f[k]! - middle);
      let beaten = 0;
      for (const j of candidates) beaten += strengths[k]! / (strengths[k]! + strengths[j]!);
      wins += (share * beaten) / candidates.length;
    }
  }
  const regret = regrets.reduce((sum, value) => sum + value / regrets.length, 0);
  return { regret, regrets, wins, quality };
}

function fallenOf(falls: readonly number[]): StretchPerformance["fallen"] {
  const sure = falls.filter((fall) => fall > 0).length / falls.length;
  return { ...bandOf(falls), sure };
}

function redrawnMean(values: Float64Array, random: Random): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[random.integer(values.length)]!;
  return sum / values.length;
}

/** With 119 draws, exactly 95% lies between the third smallest and the third largest. */
const DRAWS = 119;

/** Mean and 95% interval. Of n draws, the i-th smallest has i / (n + 1) of the distribution below it. */
export function bandOf(draws: readonly number[]): Band {
  const sorted = draws.toSorted((a, b) => a - b);
  const n = sorted.length;
  const at = (share: number) => sorted[Math.min(n, Math.max(1, Math.round(share * (n + 1)))) - 1]!;
  const mean = draws.reduce((sum, value) => sum + value, 0) / draws.length;
  return { mean, lo: at(0.025), hi: at(0.975) };
}
