import type { Random } from "../random/random.ts";

/**
 * Glossary
 *
 * query      what a user asks; here always its embedding x
 * category   a kind of query; xi_m, its centroid, is the mean embedding of its offline queries
 * pool       the models to choose among and what is told about them in advance
 * round      one query to be answered by some of the pool's models
 * duel       two models answer one query; a vote says which answer is better
 * score      what is told of a model on a category, 0..1 (the paper's Perf)
 * utility    what is true of a model on a query; regret is counted in it
 * vote scale s in P(a beats b) = sigmoid(s (utility_a - utility_b)); no learner is told it
 */

/** What a policy knows before the first vote. Models and categories are indices into these lists. */
export interface Pool {
  readonly models: readonly string[];
  readonly categories: readonly string[];
  /** xi_m: one vector a category. */
  readonly centroids: readonly Float64Array[];
  /** told[k][m]: score of model k on category m; NaN where unknown. Absent: nothing is told. */
  readonly told?: readonly Float64Array[] | undefined;
  /** costs[k][m], in the unit of the data. */
  readonly costs?: readonly Float64Array[] | undefined;
  /** Eq. 6: mean embedding of the offline queries whose best model is k. */
  readonly labels?: readonly Float64Array[] | undefined;
  /** a_k as a calibration bundle weighs the categories, for `weighting=fitted`. */
  readonly fitted?: readonly Float64Array[] | undefined;
}

export interface Round {
  readonly x: Float64Array;
  /** The models that may answer; never empty. */
  readonly candidates: readonly number[];
  /** Subtracted from each model's utility when choosing: lambda * cost + kappa * latency. */
  readonly penalty?: Float64Array | undefined;
  /** Duels shown but not voted on yet, oldest first. */
  readonly pending?: readonly PendingDuel[] | undefined;
  /** 1: one answer is all there will be, so that it need not be part of a good duel. */
  readonly answers?: 1 | 2 | undefined;
}

/** A duel whose vote is still to come. */
export interface PendingDuel {
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
}

/** The pair to duel; both the same means one answer and no vote. */
export interface Choice {
  readonly pair: readonly [number, number];
  /** Estimated utility of every model of the pool, where the policy has one. */
  readonly values?: Float64Array | undefined;
  /** What was believed of the query when this was chosen; it takes a moment to say. */
  readonly estimate?: (() => Estimate) | undefined;
}

export type Outcome = "a" | "b" | "tie" | "both_bad";

/** A vote on a duel. `pair` is in the order shown: a is the first answer, b the second. */
export interface Duel {
  readonly kind: "duel";
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
  readonly outcome: Outcome;
  /** How much the voter counts; 1 unless said. */
  readonly weight?: number | undefined;
}

/** Thumbs on a single answer: -1 (dislike) .. 1 (like). */
export interface Rating {
  readonly kind: "rating";
  readonly x: Float64Array;
  readonly model: number;
  readonly rating: number;
  readonly weight?: number | undefined;
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
 * lists and records of them. It names its models, so that `restore` can take
 * over what is known of those that are still in the pool.
 */
export interface Snapshot {
  readonly models: readonly string[];
  readonly state: unknown;
}

/**
 * A routing policy. It holds what it has learnt and nothing else: no clock, no
 * I/O and no generator of its own, so `choose` with the same state, round and
 * generator gives the same choice. policy.case.ts is what every policy must pass.
 */
export interface Policy {
  choose(round: Round, random: Random): Choice;
  learn(feedback: Feedback, random: Random): void;
  snapshot(): Snapshot;
  /** Takes over a snapshot, also one of another pool: models are matched by name, new ones start fresh. */
  restore(snapshot: Snapshot): void;
  /**
   * What is believed of the models where queries belong to the categories in
   * these shares, for leaderboards and explanations. Only where there is more to
   * say than `values`.
   */
  estimate?(membership: Float64Array): Estimate;
  /** One way that everything may be, drawn from what is believed. */
  samplePosterior?(random: Random): PosteriorSample;
}

/** Utilities relative to the pool's mean, and how sure they are. */
export interface Estimate {
  readonly mean: Float64Array;
  readonly sd: Float64Array;
  /** Probability that a vote prefers a to b. */
  beats(a: number, b: number): number;
}

/** What would be true of all models and queries at once. */
export interface PosteriorSample {
  /** The vote scale s. */
  readonly scale: number;
  /** Net share of answers that voters prefer, for a small unit of utility; ties count for neither. */
  readonly margin: number;
  /**
   * Of every model, where queries belong to the categories in these shares; linear in them.
   * Into `out`, for who asks often: a new array takes longer than what is put into it.
   */
  utilities(membership: Float64Array, out?: Float64Array): Float64Array;
}

/** What only a simulation can know; the baselines `oracle` and `best-fixed` are made of it. */
export interface Hindsight {
  /** The true utilities of all models for a query, found by its embedding object. */
  utilities(x: Float64Array): Float64Array;
  /** The model with the largest total utility over the whole stream. */
  readonly bestFixed: number;
}

export type Options = Readonly<Record<string, number | string | boolean>>;

/** What an option means and which values it takes, for help and for `checkOptions`. */
export interface OptionAbout {
  readonly meaning: string;
  readonly min?: number;
  readonly max?: number;
  /** Bounds that the value may not reach. */
  readonly above?: number;
  readonly below?: number;
  readonly integer?: boolean;
  readonly oneOf?: readonly string[];
}

export type About<O> = { readonly [K in keyof O]: OptionAbout };

/** How a policy is made and named on the command line: `name:option=value:option=value`. */
export interface PolicyKind<O extends Options = Options> {
  readonly name: string;
  /** One line for --help. */
  readonly summary: string;
  /** Whose algorithm it is. */
  readonly source?: string;
  readonly defaults: O;
  /** Every built-in policy has it; options of a kind without it take any value. */
  readonly about?: About<O>;
  /** Whether `create` is given what only a simulation can know. */
  readonly needsHindsight?: true;
  /** Called by `createPolicy`: `options` holds every key of `defaults`, with the user's values in their place. */
  create(pool: Pool, options: O, hindsight?: Hindsight): Policy;
}

/** A vote as the plain numbers that most policies learn from. */
export interface Comparison {
  readonly a: number;
  readonly b: number;
  /** 1: a won, 0: b won, 0.5: a tie. */
  readonly win: number;
  readonly weight: number;
}

/** The comparisons in a feedback; none in a rating or in a duel of a model with itself. */
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

/** For each model of `to`, where it stands in `from`; -1 where it is new. */
export function alignModels(from: readonly string[], to: readonly string[]): number[] {
  const index = new Map(from.map((name, i) => [name, i]));
  return to.map((name) => index.get(name) ?? -1);
}

/** The candidate with the largest value; ties are broken at random. */
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
