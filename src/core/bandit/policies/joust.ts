import { isDeepStrictEqual } from "node:util";
import { invalidValue } from "../../errors/joust-error.ts";
import type { Random } from "../../random/random.ts";
import {
  BlockPosterior,
  type Hypothesis,
  type Observation,
  POSITION,
  TOLD,
} from "../block-posterior.ts";
import { estimateOf } from "../estimate.ts";
import { hypothesesOf, UNTOLD_SCALE } from "../hypotheses.ts";
import {
  duelObservation,
  firstPlaceProbability,
  ratingObservation,
  stageObservation,
  withTies,
} from "../observation.ts";
import { bestPair, pick, sampledPair, type UtilityMixture } from "../pair-rule.ts";
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
  type PosteriorSample,
  type Round,
  type Snapshot,
  winOf,
} from "../policy.ts";
import { sampledUtilities, toldByCategory } from "../posterior-sample.ts";
import { contextOfMembership, contextOfQuery, type QueryContext } from "../query-context.ts";

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
  readonly #posteriors: BlockPosterior[];
  readonly #contextOf: (x: Float64Array) => QueryContext;
  readonly #contextOfMembership: (membership: Float64Array) => QueryContext;
  /** Told scores of each category, one after the other, relative to the pool's mean. */
  readonly #told: readonly Float64Array[];
  #votes = 0;
  #ties = 0;
  /** Duels so far of each model that joined after the start. */
  readonly #newcomers = new Map<number, number>();

  constructor(pool: Pool, options: JoustOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#contextOfMembership = contextOfMembership(pool);
    this.#contextOf = contextOfQuery(pool, this.#contextOfMembership);
    this.#told = toldByCategory(pool.categories.length, this.#contextOfMembership);
    this.#posteriors = hypothesesOf(pool).map((hypothesis) => this.#prior(hypothesis));
  }

  #prior(hypothesis: Hypothesis): BlockPosterior {
    return BlockPosterior.prior(hypothesis, this.#pool.models.length, this.#pool.categories.length);
  }

  choose(round: Round, random: Random): Choice {
    const mixture = this.#mixtureAt(this.#contextOf(round.x), round);
    const { mean: values } = mixture;
    const estimate = () => estimateOf(mixture);
    if (round.answers === 1) {
      const worth = (k: number) => values[k]! - (round.penalty?.[k] ?? 0);
      const best = argmax(round.candidates, worth, random);
      return { pair: [best, best], values, estimate };
    }
    const newcomer = this.#newcomerToMeet(round.candidates);
    const candidates = newcomer === undefined ? round.candidates : this.#known(round.candidates);
    const pair =
      this.#options.rule === "draws"
        ? sampledPair(mixture, candidates, random)
        : bestPair(mixture, candidates, this.#options, random);
    const meets = newcomer !== undefined && random.uniform() < this.#options.onboarding;
    return { pair: meets ? [pair[0], newcomer] : pair, values, estimate };
  }

  learn(feedback: Feedback, _random: Random): void {
    const context = this.#contextOf(feedback.x);
    const weight = feedback.weight ?? 1;
    switch (feedback.kind) {
      case "duel": {
        const [a, b] = feedback.pair;
        if (a === b) return;
        this.#learnDuel(context, a, b, winOf(feedback.outcome), weight);
        if (feedback.outcome === "both_bad") {
          const eta = this.#options.bothBad * weight;
          for (const k of feedback.pair) this.#learnRating(context, k, 0, eta);
        }
        break;
      }
      case "rating": {
        const like = (1 + feedback.rating) / 2;
        this.#learnRating(context, feedback.model, like, this.#options.pointwise * weight);
        break;
      }
      case "ranking":
        this.#learnRanking(context, feedback.order, weight);
        break;
    }
  }

  estimate(membership: Float64Array): Estimate {
    return estimateOf(this.#mixtureAt(this.#contextOfMembership(membership), {}));
  }

  samplePosterior(random: Random): PosteriorSample {
    const top = Math.max(...this.#posteriors.map(({ evidence }) => evidence));
    const weights = this.#posteriors.map(({ evidence }) => Math.exp(evidence - top));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const components = this.#posteriors.map((posterior, i) => ({
      posterior,
      weight: weights[i]! / total,
    }));
    const { posterior } = pick(components, random.uniform());
    const { scale } = posterior.hypothesis;
    const unit = this.#unit();
    return {
      scale: scale / unit,
      margin: this.#margin(scale) / unit,
      utilities: sampledUtilities(posterior.draw(random), this.#told, unit),
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
        beliefs: this.#posteriors.map((posterior) => ({
          hypothesis: posterior.hypothesis,
          means: posterior.means.map((mean) => mean.slice()),
          covariances: posterior.covariances.map((block) => block.slice()),
          shared: posterior.shared.slice(),
          sharedVariance: posterior.sharedVariance.slice(),
          evidence: posterior.evidence,
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
    this.#posteriors.forEach(({ hypothesis }, i) => {
      const posterior = this.#prior(hypothesis);
      this.#posteriors[i] = posterior;
      const saved = beliefs.find((other) => isDeepStrictEqual(other.hypothesis, hypothesis));
      if (!saved) return;
      from.forEach((old, k) => {
        if (old < 0) return;
        posterior.means[k]!.set(saved.means[old]!);
        posterior.covariances[k]!.set(saved.covariances[old]!);
      });
      posterior.shared.set(saved.shared);
      posterior.sharedVariance.set(saved.sharedVariance);
      posterior.evidence = saved.evidence;
    });
  }

  #learnDuel(context: QueryContext, a: number, b: number, win: number, weight: number): void {
    const { ties, robust } = this.#options;
    const tie = win === 0.5;
    if (tie && ties === 0) return;
    // Where ties are common a win says less; see `withTies`.
    const r = this.#decided();
    const eta = ((tie ? ties : 1) * weight) / r;
    for (const posterior of this.#posteriors) {
      const duel = this.#duel(posterior, context, a, b);
      // Half a win each speaks for equal models, but also for a small vote scale, whatever the
      // truth. Davidson's model given that somebody won is BTL, so only wins tell scales apart.
      const p = posterior.probability(duel);
      if (!tie) posterior.evidence += weight * safeLog(win === 1 ? p : 1 - p);
      posterior.observe(withTies(duel, r), win, eta, robust);
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
   * y' - 1/2 = (y - 1/2) / (r + tau (1 - r)), as sigmoid(r s d) (see `withTies`), whose
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

  #duel(posterior: BlockPosterior, context: QueryContext, a: number, b: number): Observation {
    const duel = duelObservation(posterior, context, a, b);
    if (!this.#options.position) duel.shared[POSITION] = 0;
    return duel;
  }

  #learnRanking(context: QueryContext, order: readonly number[], weight: number): void {
    for (let i = 0; i + 1 < order.length; i++) {
      for (const posterior of this.#posteriors) {
        const left = order.slice(i);
        posterior.evidence += weight * safeLog(firstPlaceProbability(posterior, context, left));
        const stage = stageObservation(posterior, context, order[i]!, left.slice(1));
        posterior.observe(stage, 1, weight, this.#options.robust);
      }
    }
    for (const k of order) this.#meet(k);
    this.#count();
  }

  #learnRating(context: QueryContext, model: number, like: number, eta: number): void {
    if (eta === 0) return;
    for (const posterior of this.#posteriors) {
      posterior.observe(
        ratingObservation(posterior, context, model),
        like,
        eta,
        this.#options.robust,
      );
    }
  }

  #count(): void {
    this.#votes++;
    const { drift } = this.#options;
    if (drift < 1 && this.#votes % DRIFT_EVERY === 0) {
      for (const posterior of this.#posteriors) posterior.drift(drift ** DRIFT_EVERY);
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
  #mixtureAt(
    context: QueryContext,
    { penalty, pending }: Pick<Round, "penalty" | "pending">,
  ): UtilityMixture {
    const K = this.#pool.models.length;
    const top = Math.max(...this.#posteriors.map((posterior) => posterior.evidence));
    const unit = this.#unit();
    const components: UtilityMixture["components"][number][] = [];
    let total = 0;
    for (const posterior of this.#posteriors) {
      const weight = Math.exp(posterior.evidence - top);
      if (weight < NEGLIGIBLE) continue;
      total += weight;
      const seen =
        pending && pending.length > 0 ? this.#withPendingVotes(posterior, pending) : posterior;
      const scale = posterior.hypothesis.scale / unit;
      const values = new Float64Array(K);
      const variances = new Float64Array(K);
      for (let k = 0; k < K; k++) {
        values[k] = unit * seen.value(k, context.w, context.told[k]!);
        variances[k] = unit * unit * seen.variance(k, context.w);
      }
      const toldVariance = seen.sharedVariance[TOLD]!;
      components.push({ weight, scale, values, variances, toldVariance });
    }
    const mean = new Float64Array(K);
    for (const component of components) {
      component.weight /= total;
      for (let k = 0; k < K; k++) mean[k]! += component.weight * component.values[k]!;
    }
    return { components, mean, told: context.told, penalty, votes: this.#votes };
  }

  /** Votes under way will narrow the belief whichever way they go; a copy knows it already. */
  #withPendingVotes(
    posterior: BlockPosterior,
    pending: NonNullable<Round["pending"]>,
  ): BlockPosterior {
    const copy = posterior.shallowCopy();
    for (const { x, pair } of pending) {
      copy.anticipateVote(
        this.#duel(copy, this.#contextOf(x), pair[0], pair[1]),
        1,
        this.#options.robust,
      );
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
