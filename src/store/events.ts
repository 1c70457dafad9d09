import type { Options, Outcome, Pool } from "../core/bandit/policy.ts";
import type { Decision } from "./decision.ts";
import type { AlwaysCosts, PricedCounts } from "./priced-counts.ts";

/**
 * Glossary
 *
 * event      a record of something that happened; it is written once and never changed
 * control    an event that is not a vote but changes which votes count or how they are learned
 * log        votes and controls in one order, which determine the posterior; positions in the
 *            log increase and are never reused
 * decision   one routed request; its answers and votes refer to it by its id
 * slot       index of an answer as it was shown: 0 for the first, 1 for the second
 * owner      id of the API key that sent the request; a vote by key must use the same key
 * voter      name of the person or judge who votes, at most once per decision; "" if unnamed
 *
 * Decisions and answers are not part of the log. They are stored by day and have no position.
 */
export type LogEvent = Voted | Control;
export type DecisionEvent = Decision | Answered;
export type Control = Configured | Frozen | Thawed | RolledBack | VoterForgotten | VoterWeighed;

/** An event with its position in the log. */
export type Logged<E> = E & { readonly position: number };

interface EventBase {
  readonly router: string;
  /** Time at which the event was logged, in milliseconds since 1970. */
  readonly at: number;
}

/** The answer in a slot is complete, failed or was cancelled. */
export interface Answered extends EventBase {
  readonly kind: "answered";
  readonly decision: string;
  readonly slot: number;
  /** Model that answered after all fallbacks, or the last model tried if none answered. */
  readonly model: string;
  readonly status: "ok" | "failed" | "cancelled";
  /** True if the answer was made for a judge, so that no client received it. */
  readonly forJudge?: boolean | undefined;
  readonly owner?: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost in US dollars, that of earlier attempts of the model included. */
  readonly cost: number;
  /** Part of the cost that was paid for earlier attempts of the model, which failed. */
  readonly lostCost?: number | undefined;
  readonly latencyMs: number;
  readonly firstByteMs?: number | undefined;
  readonly fallbacks?:
    | readonly { readonly model: string; readonly reason: string; readonly cost?: number }[]
    | undefined;
  /** Message of the error that ended a failed answer. */
  readonly error?: string | undefined;
  /** Numbers that the tallies add for the comparison with other models, by model; "" stands for all models. */
  readonly priced?: Readonly<Record<string, Partial<PricedCounts>>> | undefined;
  /** Expected cost of the request for each model alone; "counted" if the pool is so large that only the tallies have it. */
  readonly always?: AlwaysCosts | "counted" | undefined;
}

/**
 * The content of a vote: winner of a duel, rating of one answer, or ranking of several models. A
 * comment is stored like a vote, but it is not counted, and nothing is learned from it.
 */
export type Verdict =
  | { readonly outcome: Outcome }
  | { readonly rating: number; readonly slot?: number | undefined }
  | { readonly ranking: readonly string[] }
  | { readonly comment: string };

/**
 * A vote. It contains everything that the learner needs, so that it never depends on the row of
 * its decision, which may be missing: not written yet, deleted, or not part of the sample.
 */
export interface Voted extends EventBase {
  readonly kind: "voted";
  readonly decision: string;
  readonly voter: string;
  /** True if a vote token authorized the vote. A token is one ballot, whatever name the voter gives. */
  readonly byToken?: boolean | undefined;
  readonly verdict: Verdict;
  readonly source: "user" | "judge" | "import" | "signal";
  /** The declared metric that the rating comes from, with the value that was sent. */
  readonly metric?: { readonly name: string; readonly value: boolean | number } | undefined;
  /** Facts about the two answers of a duel that may bias a judge: see `Origin` of core/bandit/policy.ts. */
  readonly traits?: { readonly length: number; readonly own: number } | undefined;
  /** Weight of this kind of vote. The learner multiplies it by the voter's reliability. */
  readonly weight: number;
  readonly encoder: string;
  readonly x: Float64Array;
  /** Models voted on: the two of a duel as shown, the one that was rated, or the ranking, best first. None for a comment. */
  readonly models: readonly string[];
  /** Utility of each of these models as the router estimated it for the decision. */
  readonly values?: readonly number[] | undefined;
  /** Time of the decision, in milliseconds since 1970. */
  readonly decided?: number | undefined;
  /** Propensity and posterior version of the decision. */
  readonly propensity?: number | undefined;
  readonly version?: number | undefined;
  /** Time at which the vote was cast, if that differs from `at`. */
  readonly cast?: number | undefined;
}

/**
 * Everything that determines how votes are learned. If only models or prior scores changed,
 * the posterior is kept and new models are added to it. If the policy, the categories or the
 * settings changed, the learner starts again and learns from all votes with this encoder.
 */
export interface Configured extends EventBase {
  readonly kind: "configured";
  readonly encoder: string;
  readonly policy: string;
  readonly options: Options;
  readonly weighVoters: boolean;
  readonly seed: number;
  readonly pool: Pool;
}

/** Learning is paused: later votes are logged but not learned. */
interface Frozen extends EventBase {
  readonly kind: "frozen";
}

/** Learning resumes. */
interface Thawed extends EventBase {
  readonly kind: "thawed";
  /** True if the votes logged during the freeze are learned now, false if they never count. */
  readonly learn: boolean;
}

/** Everything learned after position `to` is undone permanently. */
interface RolledBack extends EventBase {
  readonly kind: "rolled_back";
  readonly to: number;
}

/**
 * All earlier votes of a voter were erased from the log (`Store.forget`). The event stays without
 * the name: a posterior learned before it is no longer valid.
 */
interface VoterForgotten extends EventBase {
  readonly kind: "voter_forgotten";
  /** Number of votes that were erased. */
  readonly votes: number;
}

/**
 * An operator has set the weight of a voter. It multiplies the weight of all votes of the voter,
 * earlier and later ones, until the next such event: 0 excludes the voter, 1 is the weight of a voter
 * without such an event. `Store.forget` erases the event, because it contains the name.
 */
export interface VoterWeighed extends EventBase {
  readonly kind: "voter_weighed";
  readonly voter: string;
  /** From 0 to 1. */
  readonly weight: number;
}
