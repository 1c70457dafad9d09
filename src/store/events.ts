import type { Options, Outcome, Pool } from "../core/bandit/policy.ts";

/**
 * Glossary
 *
 * event      something that happened, told once and never changed
 * log        all events in one order; an event's position in it grows and is never given twice
 * decision   a routed query; its answers and votes name it
 * slot       which of the answers shown: 0 the first, 1 the second
 * owner      whose API key asked; a vote by key must come from the same one
 * voter      who votes; counts once a decision. Empty: nobody in particular
 * control    an event that is no vote but changes what votes have taught
 * learning   votes and controls: all that the posterior is a fold of
 */
export type Event = Routed | Answered | Learning;
export type Learning = Voted | Control;
export type Control = Configured | Frozen | Thawed | RolledBack | VoterForgotten;

/** An event with its place in the log. */
export type Logged<E> = E & { readonly position: number };

interface Happened {
  readonly router: string;
  /** When it was logged: milliseconds since 1970. */
  readonly at: number;
}

/** A query was routed. Models are named, since their indices change with the pool. */
export interface Routed extends Happened {
  readonly kind: "routed";
  readonly decision: string;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  readonly mode: "apply" | "observe" | "bypass";
  /** What made x: vectors of different encoders do not mix. */
  readonly encoder: string;
  /** Rounded to float32 before it was used, see `toFloat32`: the log holds what was used. */
  readonly x: Float64Array;
  readonly candidates: readonly string[];
  /** In the order shown; both the same means a single answer. */
  readonly pair: readonly [string, string];
  /** Probability of the pair in either order or, where only one answer was wanted, of that one. */
  readonly propensity: number;
  /** How many answers were wanted; any: the policy might duel. Nothing: not the policy's choice. */
  readonly answers?: 1 | 2 | "any" | undefined;
  readonly seed: number;
  /** Of the posterior: the position of the last event it had learnt from. */
  readonly version: number;
  /** Estimated utility of each candidate, and its cost in US dollars. */
  readonly values?: readonly number[] | undefined;
  readonly costs?: readonly number[] | undefined;
  /** The utility that a US dollar was worth. */
  readonly lambda: number;
  /** What else explains the decision: plain JSON. */
  readonly reasons?: unknown;
  /** Only where the operator asks for it, as `seal` made it. Kept beside the log, so that it can be deleted. */
  readonly prompt?: Uint8Array | undefined;
}

/** A slot's answer has ended, well or not. */
export interface Answered extends Happened {
  readonly kind: "answered";
  readonly decision: string;
  readonly slot: number;
  /** Who answered, after all fallbacks; the last one tried where nobody did. */
  readonly model: string;
  readonly status: "ok" | "failed" | "cancelled";
  readonly owner?: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly cost: number;
  readonly latencyMs: number;
  readonly firstByteMs?: number | undefined;
  readonly fallbacks?: readonly { readonly model: string; readonly reason: string }[] | undefined;
}

/** What a vote says. */
export type Verdict =
  | { readonly outcome: Outcome }
  | { readonly rating: number; readonly slot?: number | undefined }
  | { readonly ranking: readonly string[] };

/**
 * A vote. It carries all that it teaches, so that learning needs no decision:
 * those may be deleted with age, and votes be imported without any.
 */
export interface Voted extends Happened {
  readonly kind: "voted";
  readonly decision: string;
  readonly voter: string;
  readonly verdict: Verdict;
  readonly source: "user" | "judge" | "import";
  /** How much this kind of vote counts; the voter's own record comes on top. */
  readonly weight: number;
  readonly encoder: string;
  readonly x: Float64Array;
  /** Who answered: the two of a duel as shown, the one that was rated, or the ranking. */
  readonly models: readonly string[];
  /** What the router had thought of each of them. */
  readonly values?: readonly number[] | undefined;
  /** When it was cast, if not when it was logged. */
  readonly cast?: number | undefined;
}

/**
 * All that decides how votes are learnt. Only models or told scores changed: the
 * posterior is kept, newcomers are onboarded. Policy, categories or settings
 * changed: it is learnt anew from all votes with this encoder.
 */
export interface Configured extends Happened {
  readonly kind: "configured";
  readonly encoder: string;
  readonly policy: string;
  readonly options: Options;
  readonly weighVoters: boolean;
  readonly seed: number;
  readonly pool: Pool;
}

/** From here on votes are kept but teach nothing. */
interface Frozen extends Happened {
  readonly kind: "frozen";
}

/** Votes teach again; those kept meanwhile are learnt now, or never. */
interface Thawed extends Happened {
  readonly kind: "thawed";
  readonly learn: boolean;
}

/** What was learnt after position `to` is undone, for good. */
interface RolledBack extends Happened {
  readonly kind: "rolled_back";
  readonly to: number;
}

/** As if this voter had never voted before. Permanent: no rollback brings the votes back. */
interface VoterForgotten extends Happened {
  readonly kind: "voter_forgotten";
  readonly voter: string;
}

/** A vote that somebody wants to cast; the store decides whether it becomes an event. */
export interface VoteRequest {
  readonly kind: "vote";
  readonly at: number;
  readonly decision: string;
  readonly voter: string;
  readonly verdict: Verdict;
  readonly source: Voted["source"];
  readonly weight: number;
  /** Whose key votes; left out where something else gives the right to, as a vote token does. */
  readonly owner?: string | undefined;
}
