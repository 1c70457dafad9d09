import { isDeepStrictEqual } from "node:util";
import { invalidValue } from "../../errors/joust-error.ts";
import type { Random } from "../../random/random.ts";
import { Belief, type Hypothesis, type Observation, POSITION, TOLD } from "../belief.ts";
import { estimateOf } from "../estimate.ts";
import { hypothesesOf, UNTOLD_SCALE } from "../hypotheses.ts";
import { duelOf, firstProbability, ratingOf, stageOf, tied } from "../observation.ts";
import { bestPair, type Outlook, pick, sampledPair } from "../pair-rule.ts";
import {
  type About,
  alignModels,
  argmax,
  type Choice,
  type Estimate,
  type Feedback,
  type Policy,
  type PolicyKind,
  type Pool,
  type Round,
  type Snapshot,
  type World,
  winOf,
} from "../policy.ts";
import { type Sight, sightOf, sightOn } from "../sight.ts";
import { drawnUtilities, toldByCategory } from "../world.ts";

const defaults = {
  rule: "pair",
  alpha: 1.5,
  patience: 0.03,
  minGain: 0,
  drift: 1,
  robust: 1,
  ties: 0.5,
  bothBad: 1,
  pointwise: 0.25,
  position: true,
  onboarding: 0.2,
};
type JoustOptions = typeof defaults;

const about: About<JoustOptions> = {
  rule: {
    meaning: "the most promising pair, or two draws from the belief (Thompson sampling)",
    oneOf: ["pair", "draws"],
  },
  alpha: { meaning: "how much uncertainty is worth: alpha in f_i + f_j + alpha W_ij", min: 0 },
  patience: { meaning: "how many votes ahead count, as a share of the votes so far", min: 0 },
  minGain: {
    meaning: "a duel that promises less than this (in utility) becomes a single answer",
    min: 0,
  },
  drift: {
    meaning: "share of what was learnt that is still true one vote later; 1: nothing drifts",
    above: 0,
    max: 1,
  },
  robust: { meaning: "bound on a vote's weight, robust / sd of its logit; 0: none", min: 0 },
  ties: { meaning: "how much a tie counts; 0: not at all", min: 0 },
  bothBad: { meaning: "how much both_bad counts as a dislike of each; 0: as a tie only", min: 0 },
  pointwise: { meaning: "how much a like or dislike counts; 0: not at all", min: 0 },
  position: { meaning: "whether a preference for the answer shown first is fitted" },
  onboarding: {
    meaning: "share of rounds in which a model that joined later duels, until it is known",
    min: 0,
    max: 1,
  },
};

/**
 * Our policy: one pass over the votes, no history. Neither the vote
 * scale nor the worth of the told scores is known, so each combination is a
 * hypothesis with its own belief, weighted by how well it predicted the votes.
 */
export const joust: PolicyKind<JoustOptions> = {
  name: "joust",
  summary: "one-pass Bayesian duels over categories; learns how far to trust what it is told",
  defaults,
  about,
  create: (pool, options) => new Joust(pool, options),
};

/** Beliefs below this share of the best one's weight have no say in a choice. */
const NEGLIGIBLE = 1e-3;
/** Drift costs a pass over all blocks, so it is caught up with every so many votes. */
const DRIFT_EVERY = 32;
/** Votes before the share of ties is believed, and the least share of wins. */
const TIES_AFTER = 4;
const LEAST_DECIDED = 0.1;
/** Duels after which a model that joined later is one of the others. */
const NEWCOMER_DUELS = 12;

class Joust implements Policy {
  readonly #pool: Pool;
  readonly #options: JoustOptions;
  readonly #beliefs: Belief[];
  readonly #see: (x: Float64Array) => Sight;
  readonly #sightOn: (membership: Float64Array) => Sight;
  /** Told scores of each category, one after the other, relative to the pool's mean. */
  readonly #told: readonly Float64Array[];
  #votes = 0;
  #ties = 0;
  /** Duels so far of each model that joined after the start. */
  readonly #newcomers = new Map<number, number>();

  constructor(pool: Pool, options: JoustOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#sightOn = sightOn(pool);
    this.#see = sightOf(pool, this.#sightOn);
    this.#told = toldByCategory(pool.categories.length, this.#sightOn);
    this.#beliefs = hypothesesOf(pool).map((hypothesis) => this.#prior(hypothesis));
  }

  #prior(hypothesis: Hypothesis): Belief {
    return Belief.prior(hypothesis, this.#pool.models.length, this.#pool.categories.length);
  }

  choose(round: Round, random: Random): Choice {
    const outlook = this.#outlookOn(this.#see(round.x), round);
    const { mean: values } = outlook;
    const estimate = () => estimateOf(outlook);
    if (round.answers === 1) {
      const worth = (k: number) => values[k]! - (round.penalty?.[k] ?? 0);
      const best = argmax(round.candidates, worth, random);
      return { pair: [best, best], values, estimate };
    }
    const newcomer = this.#newcomerToMeet(round.candidates);
    const candidates = newcomer === undefined ? round.candidates : this.#known(round.candidates);
    const pair =
      this.#options.rule === "draws"
        ? sampledPair(outlook, candidates, random)
        : bestPair(outlook, candidates, this.#options, random);
    const meets = newcomer !== undefined && random.uniform() < this.#options.onboarding;
    return { pair: meets ? [pair[0], newcomer] : pair, values, estimate };
  }

  learn(feedback: Feedback, _random: Random): void {
    const sight = this.#see(feedback.x);
    const weight = feedback.weight ?? 1;
    switch (feedback.kind) {
      case "duel": {
        const [a, b] = feedback.pair;
        if (a === b) return;
        this.#learnDuel(sight, a, b, winOf(feedback.outcome), weight);
        if (feedback.outcome === "both_bad") {
          const eta = this.#options.bothBad * weight;
          for (const k of feedback.pair) this.#learnRating(sight, k, 0, eta);
        }
        break;
      }
      case "rating": {
        const like = (1 + feedback.rating) / 2;
        this.#learnRating(sight, feedback.model, like, this.#options.pointwise * weight);
        break;
      }
      case "ranking":
        this.#learnRanking(sight, feedback.order, weight);
        break;
    }
  }

  estimate(membership: Float64Array): Estimate {
    return estimateOf(this.#outlookOn(this.#sightOn(membership), {}));
  }

  imagine(random: Random): World {
    const top = Math.max(...this.#beliefs.map(({ evidence }) => evidence));
    const weights = this.#beliefs.map(({ evidence }) => Math.exp(evidence - top));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const views = this.#beliefs.map((belief, i) => ({ belief, weight: weights[i]! / total }));
    const { belief } = pick(views, random.uniform());
    const { scale } = belief.hypothesis;
    const unit = this.#unit();
    return {
      scale: scale / unit,
      margin: this.#margin(scale) / unit,
      utilities: drawnUtilities(belief.draw(random), this.#told, unit),
    };
  }

  snapshot(): Snapshot {
    return {
      models: this.#pool.models,
      state: {
        categories: this.#pool.categories,
        votes: this.#votes,
        ties: this.#ties,
        newcomers: [...this.#newcomers],
        beliefs: this.#beliefs.map((belief) => ({
          hypothesis: belief.hypothesis,
          means: belief.means.map((mean) => mean.slice()),
          covariances: belief.covariances.map((block) => block.slice()),
          shared: belief.shared.slice(),
          sharedVariance: belief.sharedVariance.slice(),
          evidence: belief.evidence,
        })),
      } satisfies JoustState,
    };
  }

  restore({ models, state }: Snapshot): void {
    const { categories, votes, ties, newcomers, beliefs } = state as JoustState;
    if (!isDeepStrictEqual(categories, this.#pool.categories)) {
      throw invalidValue(
        `the snapshot is of the categories ${categories.join(", ")}, the pool's are ${this.#pool.categories.join(", ")}`,
        "learn anew from the votes",
      );
    }
    const from = alignModels(models, this.#pool.models);
    const duels = new Map(newcomers);
    this.#votes = votes;
    this.#ties = ties;
    this.#newcomers.clear();
    from.forEach((old, k) => {
      if (old < 0) this.#newcomers.set(k, 0);
      else if (duels.has(old)) this.#newcomers.set(k, duels.get(old)!);
    });
    // A hypothesis that the snapshot does not know, after a change of options, starts from its prior.
    this.#beliefs.forEach(({ hypothesis }, i) => {
      const belief = this.#prior(hypothesis);
      this.#beliefs[i] = belief;
      const saved = beliefs.find((other) => isDeepStrictEqual(other.hypothesis, hypothesis));
      if (!saved) return;
      from.forEach((old, k) => {
        if (old < 0) return;
        belief.means[k]!.set(saved.means[old]!);
        belief.covariances[k]!.set(saved.covariances[old]!);
      });
      belief.shared.set(saved.shared);
      belief.sharedVariance.set(saved.sharedVariance);
      belief.evidence = saved.evidence;
    });
  }

  #learnDuel(sight: Sight, a: number, b: number, win: number, weight: number): void {
    const { ties, robust } = this.#options;
    const tie = win === 0.5;
    if (tie && ties === 0) return;
    // Where ties are common a win says less; see `tied`.
    const r = this.#decided();
    const eta = ((tie ? ties : 1) * weight) / r;
    for (const belief of this.#beliefs) {
      const duel = this.#duel(belief, sight, a, b);
      // Half a win each speaks for equal models, but also for a small vote scale, whatever the
      // truth. Davidson's model given that somebody won is BTL, so only wins tell scales apart.
      const p = belief.probability(duel);
      if (!tie) belief.evidence += weight * safeLog(win === 1 ? p : 1 - p);
      belief.observe(tied(duel, r), win, eta, robust);
    }
    for (const k of [a, b]) this.#meet(k);
    if (tie) this.#ties++;
    this.#count();
  }

  /** r: the share of votes that say who is better. */
  #decided(): number {
    return Math.max(LEAST_DECIDED, 1 - this.#ties / (this.#votes + TIES_AFTER));
  }

  /**
   * Net share of answers that voters prefer, P(preferred) - P(the other is), for a
   * unit of utility at scale s. A vote's expected score y, a tie being half a win,
   * is 1/2 + half of it. Wins counting 1 and ties tau, beliefs are fitted to
   * y' - 1/2 = (y - 1/2) / (r + tau (1 - r)), as sigmoid(r s d) (see `tied`), whose
   * slope is r s / 4: so it is r (r + tau (1 - r)) s / 2 for small differences d.
   */
  #margin(s: number): number {
    const r = this.#decided();
    return (r * (r + this.#options.ties * (1 - r)) * s) / 2;
  }

  /** What a unit of the beliefs is in the values that are told: told scores set it, or else the margin. */
  #unit(): number {
    return this.#pool.told ? 1 : this.#margin(UNTOLD_SCALE);
  }

  #duel(belief: Belief, sight: Sight, a: number, b: number): Observation {
    const duel = duelOf(belief, sight, a, b);
    if (!this.#options.position) duel.shared[POSITION] = 0;
    return duel;
  }

  #learnRanking(sight: Sight, order: readonly number[], weight: number): void {
    for (let i = 0; i + 1 < order.length; i++) {
      for (const belief of this.#beliefs) {
        const left = order.slice(i);
        belief.evidence += weight * safeLog(firstProbability(belief, sight, left));
        const stage = stageOf(belief, sight, order[i]!, left.slice(1));
        belief.observe(stage, 1, weight, this.#options.robust);
      }
    }
    for (const k of order) this.#meet(k);
    this.#count();
  }

  #learnRating(sight: Sight, model: number, like: number, eta: number): void {
    if (eta === 0) return;
    for (const belief of this.#beliefs) {
      belief.observe(ratingOf(belief, sight, model), like, eta, this.#options.robust);
    }
  }

  #count(): void {
    this.#votes++;
    const { drift } = this.#options;
    if (drift < 1 && this.#votes % DRIFT_EVERY === 0) {
      for (const belief of this.#beliefs) belief.drift(drift ** DRIFT_EVERY);
    }
  }

  #meet(model: number): void {
    const duels = this.#newcomers.get(model);
    if (duels === undefined) return;
    if (duels + 1 >= NEWCOMER_DUELS) this.#newcomers.delete(model);
    else this.#newcomers.set(model, duels + 1);
  }

  /** The least known of the candidates that joined later, if there are others to meet it. */
  #newcomerToMeet(candidates: readonly number[]): number | undefined {
    if (this.#newcomers.size === 0 || this.#options.onboarding === 0) return undefined;
    if (this.#known(candidates).length === 0) return undefined;
    const fresh = candidates.filter((k) => this.#newcomers.has(k));
    return fresh.sort((a, b) => this.#newcomers.get(a)! - this.#newcomers.get(b)!)[0];
  }

  #known(candidates: readonly number[]): readonly number[] {
    return candidates.filter((k) => !this.#newcomers.has(k));
  }

  /** What the beliefs together say about a query. */
  #outlookOn(sight: Sight, { penalty, pending }: Pick<Round, "penalty" | "pending">): Outlook {
    const K = this.#pool.models.length;
    const top = Math.max(...this.#beliefs.map((belief) => belief.evidence));
    const unit = this.#unit();
    const views: Outlook["views"][number][] = [];
    let total = 0;
    for (const belief of this.#beliefs) {
      const weight = Math.exp(belief.evidence - top);
      if (weight < NEGLIGIBLE) continue;
      total += weight;
      const seen = pending && pending.length > 0 ? this.#narrowed(belief, pending) : belief;
      const scale = belief.hypothesis.scale / unit;
      const values = new Float64Array(K);
      const variances = new Float64Array(K);
      for (let k = 0; k < K; k++) {
        values[k] = unit * seen.value(k, sight.w, sight.told[k]!);
        variances[k] = unit * unit * seen.variance(k, sight.w);
      }
      const toldVariance = seen.sharedVariance[TOLD]!;
      views.push({ weight, scale, values, variances, toldVariance });
    }
    const mean = new Float64Array(K);
    for (const view of views) {
      view.weight /= total;
      for (let k = 0; k < K; k++) mean[k]! += view.weight * view.values[k]!;
    }
    return { views, mean, told: sight.told, penalty, votes: this.#votes };
  }

  /** Votes under way will narrow the belief whichever way they go; a copy knows it already. */
  #narrowed(belief: Belief, pending: NonNullable<Round["pending"]>): Belief {
    const copy = belief.shallowCopy();
    for (const { x, pair } of pending) {
      copy.narrow(this.#duel(copy, this.#see(x), pair[0], pair[1]), 1, this.#options.robust);
    }
    return copy;
  }
}

interface JoustState {
  readonly categories: readonly string[];
  readonly votes: number;
  readonly ties: number;
  /** Model and its duels so far. */
  readonly newcomers: readonly (readonly [number, number])[];
  readonly beliefs: readonly {
    readonly hypothesis: Hypothesis;
    readonly means: readonly Float64Array[];
    readonly covariances: readonly Float64Array[];
    readonly shared: Float64Array;
    readonly sharedVariance: Float64Array;
    readonly evidence: number;
  }[];
}

function safeLog(p: number): number {
  return Math.log(Math.max(p, 1e-300));
}
