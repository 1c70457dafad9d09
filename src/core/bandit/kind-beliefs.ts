import { dotAt } from "../linalg/linalg.ts";

/**
 * Kinds of voters other than people: judges, metrics and implicit signals. The unit of quality is a
 * person's vote. The logit of a vote of kind c between a and b is
 *
 *   scale_c s (utility_a + taste_ca - utility_b - taste_cb) + first_c + length_c L + own_c O,
 *
 * with L the logarithm of the ratio of the answers' lengths, and O = 1 if only a is of the voter's own
 * family, -1 if only b is. A rating of one answer has the logit scale_c s (utility + taste_c) + first_c.
 * taste_ck is how far the kind's opinion of model k differs from people's for no stated reason. However
 * many votes a kind gives, they leave the uncertainty about its tastes, which only people's votes remove.
 */
export const SCALE = 0; // logits of its votes per logit of people's votes
export const FIRST = 1; // logit by which the answer shown first is favoured; for ratings, the logit of an average answer
export const LENGTH = 2; // logit per unit of L
export const OWN = 3; // logit by which answers of the voter's own family are favoured
export const COEFFICIENTS = 4; // number of these coefficients

/** Means and standard deviations of a kind's coefficients before any vote. Signals are weaker than judges and metrics. */
export function kindPrior(kind: string): { mean: Float64Array; sd: Float64Array } {
  const scale = kind.startsWith(SIGNAL) ? 0.25 : 0.5;
  const first = kind.startsWith("judge:") ? 0.5 : 1;
  return { mean: Float64Array.of(scale, 0, 0, 0), sd: Float64Array.of(scale, first, 0.5, 0.5) };
}

/** Names of implicit signals begin with this. */
export const SIGNAL = "signal:";

/** Standard deviation of a taste before any vote, in the unit of the utilities. */
export function tasteSd({ told, cellSd }: Spread): number {
  return TASTE_SHARE * (told > 0 ? TOLD_SPREAD : cellSd);
}

/** The part of a hypothesis that says how far models are apart. */
interface Spread {
  readonly told: number;
  readonly cellSd: number;
}

const TASTE_SHARE = 0.3;
/** Spread of the utilities where told scores explain most of it. */
const TOLD_SPREAD = 0.2;

/**
 * Information of one vote of a person about the common scale of all utilities, which is about
 * p (1 - p) z^2 for a logit z of 1. A kind's scale cannot be known better than that scale.
 */
const UNIT_INFORMATION = 0.2;

/** The smallest variance that a kind's scale may have after a number of votes of people. */
export function leastScaleVariance(kind: string, people: number): number {
  return 1 / (1 / kindPrior(kind).sd[SCALE]! ** 2 + UNIT_INFORMATION * people);
}

/** The coefficients and tastes of all kinds under one hypothesis. Snapshots hold these field names. */
export interface KindBeliefsState {
  /** Means and variances of the coefficients, by kind. */
  readonly means: readonly Float64Array[];
  readonly variances: readonly Float64Array[];
  /** By model: means of the tastes (C), their covariances with theta_k (C x M) and with each other (C x C). */
  readonly tastes: readonly Float64Array[];
  readonly cross: readonly Float64Array[];
  readonly covariances: readonly Float64Array[];
}

/**
 * Beliefs about the kinds of voters under one hypothesis. Tastes of a model are correlated with its
 * theta_k, because a vote of the kind shows only their sum. The coefficients are independent of the rest.
 */
export class KindBeliefs implements KindBeliefsState {
  readonly means: readonly Float64Array[];
  readonly variances: readonly Float64Array[];
  readonly tastes: readonly Float64Array[];
  readonly cross: readonly Float64Array[];
  readonly covariances: readonly Float64Array[];
  /** Covariances of the tastes of one model with the logit of the current observation. */
  readonly #v: Float64Array;

  constructor(state: KindBeliefsState) {
    const copy = (arrays: readonly Float64Array[]) => arrays.map((array) => array.slice());
    this.means = copy(state.means);
    this.variances = copy(state.variances);
    this.tastes = copy(state.tastes);
    this.cross = copy(state.cross);
    this.covariances = copy(state.covariances);
    this.#v = new Float64Array(state.means.length);
  }

  /** Adds a kind after the existing ones, for K models and M categories. */
  static withKind(
    before: KindBeliefs | undefined,
    kind: string,
    hypothesis: Spread,
    [K, M]: readonly [number, number],
  ): KindBeliefs {
    const { mean, sd } = kindPrior(kind);
    const C = before?.means.length ?? 0;
    const models = Array.from({ length: K }, (_, k) => k);
    const grown = (from: Float64Array | undefined, size: number) => {
      const to = new Float64Array(size);
      if (from) to.set(from);
      return to;
    };
    return new KindBeliefs({
      means: [...(before?.means ?? []), mean],
      variances: [...(before?.variances ?? []), sd.map((value) => value ** 2)],
      tastes: models.map((k) => grown(before?.tastes[k], C + 1)),
      cross: models.map((k) => grown(before?.cross[k], (C + 1) * M)),
      covariances: models.map((k) => {
        const to = new Float64Array((C + 1) ** 2);
        for (let i = 0; i < C; i++) {
          to.set(before!.covariances[k]!.subarray(i * C, (i + 1) * C), i * (C + 1));
        }
        to[(C + 1) ** 2 - 1] = tasteSd(hypothesis) ** 2;
        return to;
      }),
    });
  }

  /** The variance that the taste of a kind adds to that of w . theta_k. */
  addedVariance(model: number, w: Float64Array, kind: number): number {
    const C = this.#v.length;
    const cross = dotAt(this.cross[model]!, kind * w.length, w, 0, w.length);
    return 2 * cross + this.covariances[model]![kind * C + kind]!;
  }

  /**
   * Computes the covariances of the tastes of a model with w . theta_k, plus its taste of `kind` if
   * the vote is of a kind, and adds those of theta_k with that taste to u.
   */
  direct(model: number, w: Float64Array, kind: number | undefined, u: Float64Array): void {
    const [C, M] = [this.#v.length, w.length];
    const cross = this.cross[model]!;
    for (let i = 0; i < C; i++) {
      const own = kind === undefined ? 0 : this.covariances[model]![i * C + kind]!;
      this.#v[i] = dotAt(cross, i * M, w, 0, M) + own;
    }
    if (kind === undefined) return;
    for (let m = 0; m < M; m++) u[m]! += cross[kind * M + m]!;
  }

  /** Moves the tastes of a model in the direction of the last `direct`. */
  move(model: number, step: number): void {
    const tastes = this.tastes[model]!;
    for (let i = 0; i < tastes.length; i++) tastes[i]! += step * this.#v[i]!;
  }

  /** Shrinks the covariances of a model in the direction of the last `direct`. */
  shrink(model: number, gain: number, u: Float64Array): void {
    const [C, M] = [this.#v.length, u.length];
    const [cross, covariance] = [this.cross[model]!, this.covariances[model]!];
    for (let i = 0; i < C; i++) {
      const scaled = gain * this.#v[i]!;
      for (let m = 0; m < M; m++) cross[i * M + m]! -= scaled * u[m]!;
      for (let j = 0; j < C; j++) covariance[i * C + j]! -= scaled * this.#v[j]!;
    }
  }

  /** Variance of a kind's part of the logit, at these factors of its coefficients. */
  coefficientVariance({ index, factors }: KindFactors): number {
    const variances = this.variances[index]!;
    let q = 0;
    for (let i = 0; i < COEFFICIENTS; i++) q += factors[i]! ** 2 * variances[i]!;
    return q;
  }

  /** Updates the coefficients of a kind with one of its votes: see `BlockPosterior.observe`. */
  learn({ index, factors, leastVariance }: KindFactors, step: number, gain: number): void {
    const [means, variances] = [this.means[index]!, this.variances[index]!];
    for (let i = 0; i < COEFFICIENTS; i++) {
      const u = variances[i]! * factors[i]!;
      means[i]! += step * u;
      const least = i === SCALE ? Math.min(variances[i]!, leastVariance) : 0;
      variances[i] = Math.max(least, variances[i]! - gain * u * u);
    }
  }

  /** Returns to the prior as `BlockPosterior.drift` does; the coefficients stay. */
  drift(g: number, hypothesis: Spread): void {
    const C = this.#v.length;
    const fresh = (1 - g) * tasteSd(hypothesis) ** 2;
    for (const [k, tastes] of this.tastes.entries()) {
      for (let i = 0; i < C; i++) tastes[i]! *= Math.sqrt(g);
      for (let i = 0; i < this.cross[k]!.length; i++) this.cross[k]![i]! *= g;
      const covariance = this.covariances[k]!;
      for (let i = 0; i < C * C; i++)
        covariance[i] = g * covariance[i]! + (i % (C + 1) ? 0 : fresh);
    }
  }
}

/** The part of an observation that is about the coefficients of the voter's kind. */
export interface KindFactors {
  readonly index: number;
  /** Factors of the coefficients in the logit. */
  readonly factors: Float64Array;
  /** Smallest variance of the scale. */
  readonly leastVariance: number;
}
