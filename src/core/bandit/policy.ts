import type { Random } from "../random/random.ts";

/**
 * Glossary
 *
 * query       a user's request, represented by its embedding x
 * category    a kind of query; its centroid xi_m is the mean embedding of its offline queries
 * membership  w(x), the weights with which a query belongs to the categories; they sum to 1
 * pool        the models to choose from, and what is known about them before the first vote
 * round       one query and the models that may answer it
 * duel        two models answer one query; a vote says which answer is better
 * told score  the score of a model on a category, 0..1, that is given to the policy in advance
 *             (the paper's Perf); it may be wrong
 * utility     the true quality of a model's answer to a query; regret is measured in utility
 * vote scale  s in P(a beats b) = sigmoid(s (utility_a - utility_b)); no policy is given it
 * evidence    the logarithm of the probability that a hypothesis gave to the votes so far
 */

/** Everything that a policy knows before the first vote. Models and categories are indices into these lists. */
export interface Pool {
  readonly models: readonly string[];
  readonly categories: readonly string[];
  /** xi_m: one vector per category. */
  readonly centroids: readonly Float64Array[];
  /**
   * confusion[n][m] is the probability that a query whose nearest centroid is that of category n belongs
   * to category m. Undefined if it was not measured.
   */
  readonly confusion?: readonly Float64Array[] | undefined;
  /** told[k][m] is the told score of model k on category m, NaN if unknown. Undefined if no score is known. */
  readonly told?: readonly Float64Array[] | undefined;
  /** toldErrors[k][m] is the standard error of told[k][m], NaN if unknown. Undefined if no error is known. */
  readonly toldErrors?: readonly Float64Array[] | undefined;
  /** costs[k][m] is the mean cost of model k on category m, in the unit of the data. */
  readonly costs?: readonly Float64Array[] | undefined;
  /** Evaluated queries, each with the score of every model, for routers that are trained before the first vote. */
  readonly evaluated?: readonly EvaluatedQuery[] | undefined;
  /** labels[k] is the mean embedding of the offline queries whose best model is k (eq. 6). */
  readonly labels?: readonly Float64Array[] | undefined;
  /** fitted[k] is the model embedding a_k of a calibration bundle, for `weighting=fitted`. */
  readonly fitted?: readonly Float64Array[] | undefined;
}

/** An offline query: its embedding and the score of every model. */
export interface EvaluatedQuery {
  readonly x: Float64Array;
  readonly scores: Float64Array;
}

export interface Round {
  readonly x: Float64Array;
  /** The models that may answer; never empty. */
  readonly candidates: readonly number[];
  /** Penalty of each model, lambda * cost + kappa * latency, which is subtracted from its utility. */
  readonly penalty?: Float64Array | undefined;
  /** Duels that were shown and have no vote yet, oldest first. */
  readonly pending?: readonly PendingDuel[] | undefined;
  /** 1 if only one answer will be given, so that the policy need not look for an informative duel. */
  readonly answers?: 1 | 2 | undefined;
}

/** A duel that has no vote yet. */
export interface PendingDuel {
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
}

/** The pair of models that should answer. The same model twice means one answer and no duel. */
export interface Choice {
  readonly pair: readonly [number, number];
  /** Estimated utility of every model of the pool, if the policy has estimates. */
  readonly values?: Float64Array | undefined;
  /** Computes the estimate on which the choice was based. It is a function because it takes time. */
  readonly estimate?: (() => Estimate) | undefined;
}

export type Outcome = "a" | "b" | "tie" | "both_bad";

/** The origin of a vote that is not a person's. */
export interface Origin {
  /** The kind of voter: `judge:` and the name of its model, `metric:` or `signal:` and a name. */
  readonly kind: string;
  /** Logarithm of the length of the first answer of a duel over that of the second. Default: 0. */
  readonly length?: number | undefined;
  /** 1 if only the first answer of a duel is by a model of the judge's own family, -1 if only the second is. Default: 0. */
  readonly own?: number | undefined;
}

/** A vote on a duel. `pair` is in the order in which the answers were shown: a first, then b. */
export interface Duel {
  readonly kind: "duel";
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
  readonly outcome: Outcome;
  /** Number of votes that this vote counts as. Default: 1. */
  readonly weight?: number | undefined;
  /** Undefined for the vote of a person. */
  readonly origin?: Origin | undefined;
}

/** A rating of a single answer, from -1 (dislike) to 1 (like). */
export interface Rating {
  readonly kind: "rating";
  readonly x: Float64Array;
  readonly model: number;
  readonly rating: number;
  readonly weight?: number | undefined;
  readonly origin?: Origin | undefined;
}

/** An order of several answers, best first. */
export interface Ranking {
  readonly kind: "ranking";
  readonly x: Float64Array;
  readonly order: readonly number[];
  readonly weight?: number | undefined;
}

export type Feedback = Duel | Rating | Ranking;

/**
 * A plain value that structuredClone can copy: strings, numbers, typed arrays,
 * lists and records of them. It names its models, so that `restore` can keep the
 * knowledge about those that are still in the pool.
 */
export interface Snapshot {
  readonly models: readonly string[];
  /** Everything that choices depend on. */
  readonly state: unknown;
  /** Everything that only reports depend on. */
  readonly report?: unknown;
}

/**
 * A routing policy. Its only state is what it has learned from feedback: it has no
 * clock, no I/O and no random generator of its own. The same state, round and
 * generator therefore give the same choice. Every policy passes policy.case.ts.
 */
export interface Policy {
  choose(round: Round, random: Random): Choice;
  learn(feedback: Feedback, random: Random): void;
  snapshot(): Snapshot;
  /** Restores a snapshot, even of another pool: models are matched by name, and new ones start from the prior. */
  restore(snapshot: Snapshot): void;
  /**
   * Estimates the models on queries with this category membership as `choose`
   * does, for explanations. Policies without uncertainties do not have it.
   */
  estimate?(membership: Float64Array): Estimate;
}

/**
 * Numbers about the models for leaderboards and statistics, whose intervals have the stated
 * coverage (docs/decisions/0024-intervals.md). Utilities are relative to the mean of the pool.
 */
export interface Report {
  /** Mean membership of the last queries that were voted on; equal shares before the first vote. */
  readonly mix: Float64Array;
  /** The models on the mix of the last queries that were voted on. */
  overall(): Estimate;
  onCategory(category: number): Estimate;
  /** Draws all unknowns at once, for the same questions as `overall` and `onCategory`. */
  sampleStandings(random: Random): StandingsSample;
  /** Draws all unknowns at once, to be used with the memberships of queries. */
  samplePosterior(random: Random): PosteriorSample;
  /** The kinds of voters other than people, in the order of their first votes. */
  voterKinds(): readonly VoterKindEstimate[];
}

/** Estimates of how the votes of a kind of voters relate to those of people. Logits are those of its own votes. */
export interface VoterKindEstimate {
  readonly kind: string;
  readonly votes: number;
  /** Logits of its votes per logit of people's votes: 0 if its votes say nothing, 1 if they are as sharp as people's. */
  readonly scale: MeanSd;
  /**
   * Logit by which the answer shown first is favoured; for ratings, the logit of a like of an average
   * answer.
   */
  readonly first: MeanSd;
  /** Logit by which an answer is favoured that is e times as long as the other; undefined for ratings. */
  readonly length?: MeanSd | undefined;
  /** Logit by which answers of the judge's own family are favoured; undefined for ratings. */
  readonly own?: MeanSd | undefined;
}

interface MeanSd {
  readonly mean: number;
  readonly sd: number;
}

/** Utilities of all models in one draw from the posterior. */
export interface StandingsSample {
  overall(): Float64Array;
  onCategory(category: number): Float64Array;
}

/** Posterior means and standard deviations of the utilities, relative to the mean of the pool. */
export interface Estimate {
  readonly mean: Float64Array;
  readonly sd: Float64Array;
  /** Probability that a vote prefers a to b. */
  beats(a: number, b: number): number;
}

/** One draw of all unknowns from the posterior. */
export interface PosteriorSample {
  /** The vote scale s. */
  readonly scale: number;
  /** P(preferred) - P(other preferred) per unit of utility, for a small difference; ties count for neither. */
  readonly margin: number;
  /**
   * Utility of every model on queries with this membership; it is a linear function of the
   * membership. Callers in a loop pass `out`, because allocating takes longer than computing.
   */
  utilities(membership: Float64Array, out?: Float64Array): Float64Array;
}

/** Knowledge that only a simulation has. The baselines `oracle` and `best-fixed` use it. */
export interface Hindsight {
  /** The true utilities of all models for a query. The query is identified by its embedding object. */
  utilities(x: Float64Array): Float64Array;
  /** The model with the largest total utility over the whole stream. */
  readonly bestFixed: number;
  /** The distinct queries of the stream, with their utilities and how often each occurs. */
  readonly stream: readonly {
    readonly x: Float64Array;
    readonly utilities: Float64Array;
    readonly count: number;
  }[];
}

export type Options = Readonly<Record<string, number | string | boolean>>;

/** The meaning of an option and the values that it takes, for help texts and `checkOptions`. */
export interface OptionAbout {
  readonly meaning: string;
  readonly min?: number;
  readonly max?: number;
  /** Exclusive bounds. */
  readonly above?: number;
  readonly below?: number;
  readonly integer?: boolean;
  readonly oneOf?: readonly string[];
}

export type About<O> = { readonly [K in keyof O]: OptionAbout };

/** A kind of policy, which the command line names as `name:option=value:option=value`. */
export interface PolicyKind<O extends Options = Options> {
  readonly name: string;
  /** One line for --help. */
  readonly summary: string;
  /** Paper that the algorithm is from. */
  readonly source?: string;
  readonly defaults: O;
  /** Describes the options. Every built-in policy has it; without it, options take any value. */
  readonly about?: About<O>;
  /** Options of earlier versions, each with a hint. Configurations in a log may still have them. */
  readonly removed?: Readonly<Record<string, string>>;
  /**
   * Increased in every version in which equal votes and options give another posterior (0 if absent), so
   * that snapshots of earlier versions are learned again. Snapshots name all options, so that another
   * default alone needs no new revision.
   */
  readonly revision?: number;
  /** Whether `create` receives a `Hindsight`. */
  readonly needsHindsight?: true;
  /**
   * Creates a policy. Called by `createPolicy`. `options` has every key of `defaults`,
   * with the user's values where given.
   */
  create(pool: Pool, options: O, hindsight?: Hindsight): Policy;
}

/** The result of comparing two models, in the numbers that most policies learn from. */
export interface Comparison {
  readonly a: number;
  readonly b: number;
  /** 1 if a won, 0 if b won, 0.5 for a tie. */
  readonly win: number;
  readonly weight: number;
}

/** Returns the comparisons in feedback: none for a rating or for a duel of a model with itself. */
export function comparisonsOf(feedback: Feedback): Comparison[] {
  const weight = feedback.weight ?? 1;
  switch (feedback.kind) {
    case "rating":
      return [];
    case "duel": {
      const [a, b] = feedback.pair;
      return a === b ? [] : [{ a, b, win: winOf(feedback.outcome), weight }];
    }
    case "ranking":
      return feedback.order.flatMap((a, i) =>
        feedback.order.slice(i + 1).map((b) => ({ a, b, win: 1, weight })),
      );
  }
}

export function winOf(outcome: Outcome): number {
  return outcome === "a" ? 1 : outcome === "b" ? 0 : 0.5;
}

/** Returns the index in `from` of each model of `to`, -1 if the model is new. */
export function alignModels(from: readonly string[], to: readonly string[]): number[] {
  const index = new Map(from.map((name, i) => [name, i]));
  return to.map((name) => index.get(name) ?? -1);
}

/** Returns the candidate with the largest value. Ties are broken at random. */
export function argmax(
  candidates: readonly number[],
  value: (k: number) => number,
  random: Random,
): number {
  let best = candidates[0]!;
  let bestValue = -Infinity;
  let ties = 0;
  for (const k of candidates) {
    const v = value(k);
    if (v > bestValue) {
      best = k;
      bestValue = v;
      ties = 1;
    } else if (v === bestValue && random.integer(++ties) === 0) {
      best = k;
    }
  }
  return best;
}
