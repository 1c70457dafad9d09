import { isDeepStrictEqual } from "node:util";
import { invalidValue } from "../../errors/joust-error.ts";
import type { Random } from "../../random/random.ts";
import {
  BlockPosterior,
  type Hypothesis,
  hypothesesOf,
  type Observation,
  POSITION,
  TOLD,
  UNTOLD_SCALE,
} from "../block-posterior.ts";
import { safeLog } from "../btl.ts";
import { estimateOf } from "../estimate.ts";
import {
  duelObservation,
  firstPlaceProbability,
  ratingObservation,
  stageObservation,
  withTies,
} from "../observation.ts";
import { mostValuablePair, type UtilityMixture } from "../pair-rule.ts";
import {
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
  winOf,
} from "../policy.ts";
import {
  contextOfMembership,
  contextOfQuery,
  type QueryContext,
  toldByCategory,
} from "../query-context.ts";
import type { ReportInput } from "../report-input.ts";
import { toldPrior } from "../told-prior.ts";
import { VoteGroups } from "../vote-groups.ts";
import { decidedShare, VoterKinds } from "../voter-kinds.ts";
import { JOUST_ABOUT, JOUST_DEFAULTS, JOUST_REMOVED, type JoustOptions } from "./joust-options.ts";
import {
  beliefOf,
  isSame,
  type JoustReportState,
  type JoustState,
  restoreBelief,
} from "./joust-state.ts";
import { Newcomers } from "./newcomers.ts";

/**
 * Our policy. It learns in one pass over the votes and keeps no history. Neither the
 * vote scale nor the quality of the told scores is known, so each combination of the two
 * is a hypothesis with its own posterior, weighted by how well it predicted the votes.
 */
export const joust: PolicyKind<JoustOptions> = {
  name: "joust",
  summary: "Bayesian duels per category; also learns how far to trust the told scores",
  defaults: JOUST_DEFAULTS,
  about: JOUST_ABOUT,
  removed: JOUST_REMOVED,
  revision: 4,
  create: (pool, options) => new Joust(pool, options),
};

/** A hypothesis whose weight is below this share of the largest weight is ignored in choices. */
const NEGLIGIBLE = 1e-3;
/** Votes between two applications of drift, which takes a pass over all covariances. */
const DRIFT_EVERY = 32;

export class Joust implements Policy {
  readonly #pool: Pool;
  /** Covariances of the errors of the told scores of each model, if they are known. */
  readonly #toldCovariances: readonly Float64Array[] | undefined;
  readonly #options: JoustOptions;
  readonly #posteriors: BlockPosterior[];
  readonly #contextOf: (x: Float64Array) => QueryContext;
  readonly #contextOfMembership: (membership: Float64Array) => QueryContext;
  /** Told scores of each category, relative to the mean of the pool. */
  readonly #told: readonly Float64Array[];
  readonly #groups: VoteGroups;
  /** Kinds of voters other than people. */
  readonly #kinds: VoterKinds;
  #reportInput: ReportInput | undefined;
  #votes = 0;
  #ties = 0;
  readonly #newcomers = new Newcomers();

  constructor(given: Pool, options: JoustOptions) {
    const { told, toldErrors } = given;
    const prior = told && toldErrors && toldPrior(told, toldErrors);
    const pool = prior ? { ...given, told: prior.means } : given;
    this.#pool = pool;
    this.#toldCovariances = prior?.covariances;
    this.#options = options;
    this.#contextOfMembership = contextOfMembership(pool);
    this.#contextOf = contextOfQuery(pool, this.#contextOfMembership);
    this.#told = toldByCategory(pool.categories.length, this.#contextOfMembership);
    this.#posteriors = hypothesesOf(pool).map((hypothesis) => this.#prior(hypothesis));
    this.#groups = new VoteGroups(pool);
    this.#kinds = new VoterKinds(pool, this.#posteriors, options);
  }

  #prior(hypothesis: Hypothesis): BlockPosterior {
    const { models, categories } = this.#pool;
    return BlockPosterior.prior(
      hypothesis,
      models.length,
      categories.length,
      this.#toldCovariances,
    );
  }

  choose(round: Round, random: Random): Choice {
    const mixture = this.#mixtureAt(this.#contextOf(round.x), round);
    const { mean: values } = mixture;
    const information = this.#information();
    const estimate = () => estimateOf(mixture, information);
    if (round.answers === 1) {
      const worth = (k: number) => values[k]! - (round.penalty?.[k] ?? 0);
      const best = argmax(round.candidates, worth, random);
      return { pair: [best, best], values, estimate };
    }
    const { onboarding } = this.#options;
    const newcomer = onboarding > 0 ? this.#newcomers.next(round.candidates) : undefined;
    const candidates =
      newcomer === undefined ? round.candidates : this.#newcomers.established(round.candidates);
    const pair = mostValuablePair(mixture, candidates, this.#options, random);
    const onboards = newcomer !== undefined && random.uniform() < onboarding;
    return { pair: onboards ? [pair[0], newcomer] : pair, values, estimate };
  }

  learn(feedback: Feedback, _random: Random): void {
    const context = this.#contextOf(feedback.x);
    const weight = feedback.weight ?? 1;
    this.#reportInput = undefined;
    switch (feedback.kind) {
      case "duel": {
        const [a, b] = feedback.pair;
        if (a === b) return;
        const win = winOf(feedback.outcome);
        if (feedback.origin) {
          this.#kinds.learnDuel({
            context,
            a,
            b,
            win,
            weight,
            origin: feedback.origin,
            people: this.#votes,
          });
          this.#groups.noteQuery(context.w);
          for (const k of feedback.pair) this.#newcomers.countDuel(k);
          break;
        }
        this.#learnDuel(context, a, b, win, weight);
        if (feedback.outcome === "both_bad") {
          const eta = this.#options.bothBad * weight;
          for (const k of feedback.pair) this.#learnRating(context, k, 0, eta);
        }
        break;
      }
      case "rating": {
        const like = (1 + feedback.rating) / 2;
        const { model, origin } = feedback;
        if (this.#options.pointwise === 0) return;
        if (!origin) this.#learnRating(context, model, like, this.#options.pointwise * weight);
        else {
          const people = this.#votes;
          this.#kinds.learnRating({ context, a: model, like, eta: weight, origin, people });
        }
        break;
      }
      case "ranking":
        this.#learnRanking(context, feedback.order, weight);
        break;
    }
  }

  estimate(membership: Float64Array): Estimate {
    const mixture = this.#mixtureAt(this.#contextOfMembership(membership), {});
    return estimateOf(mixture, this.#information());
  }

  /** Everything that a report is computed from. It is the same object until the next vote. */
  reportInput(): ReportInput {
    this.#reportInput ??= {
      pool: this.#pool,
      posteriors: this.#posteriors,
      groups: this.#groups,
      kinds: this.#kinds.all,
      told: (w) => this.#contextOfMembership(w).told,
      toldByCategory: this.#told,
      decided: this.#decided(),
      position: this.#options.position,
      margin: (scale) => this.#margin(scale),
      unit: this.#unit(),
    };
    return this.#reportInput;
  }

  snapshot(): Snapshot {
    return {
      models: this.#pool.models,
      state: {
        categories: this.#pool.categories,
        votes: this.#votes,
        ties: this.#ties,
        newcomers: this.#newcomers.snapshot(),
        beliefs: this.#posteriors.map(beliefOf),
        ...(this.#kinds.all.length > 0 && { kinds: this.#kinds.snapshot() }),
      } satisfies JoustState,
      report: {
        ...this.#groups.snapshot(),
        ...(this.#kinds.all.length > 0 && { kinds: this.#kinds.groupsSnapshot() }),
      } satisfies JoustReportState,
    };
  }

  restore({ models, state, report }: Snapshot): void {
    const { categories, votes, ties, newcomers, beliefs, kinds } = state as JoustState;
    if (!isDeepStrictEqual(categories, this.#pool.categories)) {
      throw invalidValue(
        `the snapshot has the categories ${categories.join(", ")}, but the pool has ${this.#pool.categories.join(", ")}`,
        "learn again from the votes",
      );
    }
    const from = alignModels(models, this.#pool.models);
    this.#reportInput = undefined;
    const sums = report as JoustReportState | undefined;
    this.#groups.restore(sums, models);
    this.#kinds.restore(kinds, sums?.kinds, models);
    this.#votes = votes;
    this.#ties = ties;
    this.#newcomers.restore(newcomers, from);
    // A hypothesis that is not in the snapshot starts from its prior.
    this.#posteriors.forEach(({ hypothesis }, i) => {
      const posterior = this.#prior(hypothesis);
      this.#posteriors[i] = posterior;
      const saved = beliefs.find((other) => isSame(other.hypothesis, hypothesis));
      this.#kinds.addTo(posterior);
      if (saved) restoreBelief(posterior, saved, from);
    });
  }

  #learnDuel(context: QueryContext, a: number, b: number, win: number, weight: number): void {
    const { ties, robust } = this.#options;
    const tie = win === 0.5;
    if (tie && ties === 0) return;
    this.#groups.addDuel(a, b, context.w, win, weight);
    // If ties are common, a win says less; see `withTies`.
    const r = this.#decided();
    const eta = ((tie ? ties : 1) * weight) / r;
    for (const posterior of this.#posteriors) {
      const duel = this.#duel(posterior, context, a, b);
      // A tie is evidence for equal models, but also for a small vote scale, whatever the truth.
      // In Davidson's model, votes with a winner follow BTL, so only these distinguish scales.
      const p = posterior.probability(duel);
      if (!tie) posterior.evidence += weight * safeLog(win === 1 ? p : 1 - p);
      posterior.observe(withTies(duel, r), win, eta, robust);
    }
    for (const k of [a, b]) this.#newcomers.countDuel(k);
    if (tie) this.#ties++;
    this.#countVote();
  }

  /** Information of the votes about differences; see `estimateOf`. */
  #information(): number {
    const r = this.#decided();
    return r + this.#options.ties * (1 - r);
  }

  /** r: the share of votes that have a winner. */
  #decided(): number {
    return decidedShare(this.#votes, this.#ties);
  }

  /**
   * The margin P(preferred) - P(other preferred) per unit of utility at scale s, for a
   * small difference d. The expected score y of a vote, a tie being half a win, is 1/2
   * plus half of the margin. With weight 1 for wins and tau for ties, the posteriors are
   * fitted to y' - 1/2 = (y - 1/2) / (r + tau (1 - r)) as sigmoid(r s d) (see `withTies`),
   * whose slope is r s / 4. The margin is therefore r (r + tau (1 - r)) s / 2.
   */
  #margin(s: number): number {
    return (this.#decided() * this.#information() * s) / 2;
  }

  /**
   * Factor from the unit of the posteriors to the unit of the values. Told scores define
   * the unit; without them the margin does.
   */
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
    this.#groups.addRanking(order, context.w, weight);
    for (const k of order) this.#newcomers.countDuel(k);
    this.#countVote();
  }

  #learnRating(context: QueryContext, model: number, like: number, eta: number): void {
    if (eta === 0) return;
    this.#groups.addRating(model, context.w, like, eta);
    for (const posterior of this.#posteriors) {
      const rating = ratingObservation(posterior, context, model);
      posterior.observe(rating, like, eta, this.#options.robust);
    }
  }

  #countVote(): void {
    this.#votes++;
    const { drift } = this.#options;
    if (drift < 1 && this.#votes % DRIFT_EVERY === 0) {
      for (const posterior of this.#posteriors) posterior.drift(drift ** DRIFT_EVERY);
      this.#groups.fade(drift ** DRIFT_EVERY);
      this.#kinds.fade(drift ** DRIFT_EVERY);
    }
  }

  /** Returns the posterior of the utilities in a context. */
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
      const expected =
        pending && pending.length > 0 ? this.#withPendingVotes(posterior, pending) : posterior;
      const scale = posterior.hypothesis.scale / unit;
      const values = new Float64Array(K);
      const variances = new Float64Array(K);
      for (let k = 0; k < K; k++) {
        values[k] = unit * expected.value(k, context.w, context.told[k]!);
        variances[k] = unit * unit * expected.variance(k, context.w);
      }
      const toldVariance = expected.sharedVariance[TOLD]!;
      const { reach, hypothesis } = posterior;
      const trustsTold = hypothesis.told > 0;
      components.push({ weight, scale, values, variances, toldVariance, reach, trustsTold });
    }
    const mean = new Float64Array(K);
    for (const component of components) {
      component.weight /= total;
      for (let k = 0; k < K; k++) mean[k]! += component.weight * component.values[k]!;
    }
    const votes = this.#votes + this.#kinds.duels;
    return { components, mean, told: context.told, penalty, votes };
  }

  /** Returns a copy of a posterior whose variances anticipate the votes on pending duels. */
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
