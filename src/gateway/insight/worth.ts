import type { PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { Belief, TrafficQuery } from "./traffic.ts";

/** An estimate with its 95% band. */
export interface Band {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

/**
 * Quality counts in answers: where it is 0.1 higher, a net tenth of the answers is
 * preferred. That unit shows in votes, whatever they are cast on; what a unit of
 * utility is worth in it differs from world to world (`margin`), and so do
 * utilities of worlds that explain the same votes.
 */
export interface Worth {
  /** Quality that a request loses to the best model for it: E[max_k f_k - mean served f]. */
  readonly regret: Band;
  /** Probability that what was served is preferred to the answer of a model drawn from the candidates. */
  readonly winRate: Band;
  /** Mean quality served, relative to the pool's mean. */
  readonly quality: Band;
}

/**
 * What routing has been worth on the recent queries, by what is believed now.
 * Each imagined world is one truth for all queries at once, so the bands hold
 * for their mean. Undefined without queries or without a policy that imagines.
 */
export function worthOf(
  belief: Belief,
  traffic: readonly TrafficQuery[],
  random: Random,
): Worth | undefined {
  return worthOfEach(belief, [traffic], random)[0];
}

export interface StretchWorth extends Worth {
  /**
   * By how much less regret than in the first stretch, in the same worlds: what is
   * not known of the models is in both. Which queries came is chance too, so in
   * each world they are drawn again (bootstrap).
   */
  readonly fallen: Band & {
    /** Probability that it has fallen at all. */
    readonly sure: number;
  };
}

/** The same for several stretches of queries, in the same worlds. */
export function worthOfEach(
  belief: Belief,
  stretches: readonly (readonly TrafficQuery[])[],
  random: Random,
): (StretchWorth | undefined)[] {
  const { policy } = belief.router;
  if (!policy.samplePosterior || stretches.every(({ length }) => length === 0)) {
    return stretches.map(() => undefined);
  }
  const worlds = Array.from({ length: WORLDS }, () => {
    const world = policy.samplePosterior!(random);
    return stretches.map((traffic) => {
      const worth = worthIn(world, traffic);
      return { ...worth, redrawn: redrawnMean(worth.regrets, random) };
    });
  });
  return stretches.map(({ length }, i) => {
    if (length === 0) return undefined;
    const samples = worlds.map((world) => world[i]!);
    const first = stretches.findIndex((traffic) => traffic.length > 0);
    return {
      regret: bandOf(samples.map(({ regret }) => regret)),
      fallen: fallenOf(worlds.map((world) => world[first]!.redrawn - world[i]!.redrawn)),
      winRate: bandOf(samples.map(({ wins }) => wins)),
      quality: bandOf(samples.map(({ quality }) => quality)),
    };
  });
}

/** Means over the queries, if the world were so. */
function worthIn({ scale, margin, utilities }: PosteriorSample, traffic: readonly TrafficQuery[]) {
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
    // sigmoid(s (f_k - f_j)) = e_k / (e_k + e_j) with e = exp(s f): one exponential a model.
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

function fallenOf(samples: readonly number[]): StretchWorth["fallen"] {
  const sure = samples.filter((fall) => fall > 0).length / samples.length;
  return { ...bandOf(samples), sure };
}

function redrawnMean(values: Float64Array, random: Random): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[random.integer(values.length)]!;
  return sum / values.length;
}

/** The third of them from below and from above have exactly 95% between them. */
const WORLDS = 119;

/** Of n samples the i-th smallest has i / (n + 1) of everything below it. */
export function bandOf(samples: readonly number[]): Band {
  const sorted = samples.toSorted((a, b) => a - b);
  const n = sorted.length;
  const at = (share: number) => sorted[Math.min(n, Math.max(1, Math.round(share * (n + 1)))) - 1]!;
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  return { mean, lo: at(0.025), hi: at(0.975) };
}
