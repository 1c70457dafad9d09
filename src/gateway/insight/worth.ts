import { sigmoid } from "../../bandit/btl.ts";
import type { Random } from "../../random/random.ts";
import type { View } from "../routing/plan.ts";
import type { TrafficQuery } from "./traffic.ts";

/** An estimate with its 95% band. */
export interface Band {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

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
  view: View,
  traffic: readonly TrafficQuery[],
  random: Random,
): Worth | undefined {
  return worthOfEach(view, [traffic], random)[0];
}

/** The same for several stretches of queries, in the same worlds. */
export function worthOfEach(
  view: View,
  stretches: readonly (readonly TrafficQuery[])[],
  random: Random,
): (Worth | undefined)[] {
  const { policy } = view.router;
  if (!policy.imagine || stretches.every(({ length }) => length === 0)) {
    return stretches.map(() => undefined);
  }
  const worlds = Array.from({ length: WORLDS }, () => {
    const world = policy.imagine!(random);
    return stretches.map((traffic) => worthIn(world, traffic));
  });
  return stretches.map(({ length }, i) => {
    if (length === 0) return undefined;
    const samples = worlds.map((world) => world[i]!);
    return {
      regret: bandOf(samples.map(({ regret }) => regret)),
      winRate: bandOf(samples.map(({ wins }) => wins)),
      quality: bandOf(samples.map(({ quality }) => quality)),
    };
  });
}

/** Means over the queries, if the world were so. */
function worthIn({ scale, utilities }: World, traffic: readonly TrafficQuery[]) {
  let regret = 0;
  let wins = 0;
  let quality = 0;
  for (const { w, candidates, served } of traffic) {
    const f = utilities(w);
    const middle = f.reduce((sum, value) => sum + value, 0) / f.length;
    const best = candidates.reduce((top, k) => Math.max(top, f[k]!), -Infinity);
    for (const k of served) {
      const share = 1 / served.length / traffic.length;
      regret += share * (Math.max(best, f[k]!) - f[k]!);
      quality += share * (f[k]! - middle);
      for (const j of candidates) {
        wins += (share / candidates.length) * sigmoid(scale * (f[k]! - f[j]!));
      }
    }
  }
  return { regret, wins, quality };
}

type World = ReturnType<NonNullable<View["router"]["policy"]["imagine"]>>;

const WORLDS = 100;

export function bandOf(samples: readonly number[]): Band {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!;
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  return { mean, lo: at(0.025), hi: at(0.975) };
}
