import type { Decision } from "./decision.ts";
import type { Answered, Control, Event, Learning, Logged, Voted, VoteRequest } from "./events.ts";
import type { Refusal } from "./store-error.ts";
import type { Tally } from "./tally.ts";

/**
 * Glossary (events.ts defines the words of the log)
 *
 * append     write several entries in one transaction: either all are durable or none
 * receipt    the result of appending one entry
 * snapshot   the posterior after a position of the log, together with that position
 * lease      the right to save snapshots of a router for a limited time
 * token      a number that increases with every holder of a lease; an old token is refused (fencing)
 * horizon    the position up to which votes were pruned; learning starts from the snapshot kept there
 *
 * Store is the log and everything derived from it. SQLite stores it in a file for one node,
 * PostgreSQL stores it for several nodes, and both must pass store.case.ts. Methods throw
 * StoreUnavailable if the database is unreachable, full or too slow.
 */
export interface Store {
  /** True if several nodes use the same database. */
  readonly shared: boolean;

  /** Appends entries, which are durable when the promise resolves. Events already in the log are skipped. */
  append(entries: readonly Entry[]): Promise<Receipt[]>;

  /** Votes and controls after a position, in log order. No event is ever inserted before one that was returned. */
  learning(router: string, after: number, limit: number): Promise<Logged<Learning>[]>;
  controls(router: string): Promise<Logged<Control>[]>;
  /** Position of the newest vote or control, or 0 if there is none. */
  head(router: string): Promise<number>;
  /** Position of the newest vote or control logged at or before `time`, or 0. */
  positionAt(router: string, time: number): Promise<number>;
  /** Number of votes that a voter has cast. */
  votesOf(router: string, voter: string): Promise<number>;
  /** Names of all routers that were ever configured. */
  routers(): Promise<string[]>;

  /** Decisions after a position, in log order. */
  routed(router: string, after: number, limit: number): Promise<Logged<Decision>[]>;
  decisions(page: PageQuery): Promise<DecisionRecord[]>;
  decision(id: string): Promise<DecisionRecord | undefined>;
  /** The sealed prompt of a decision, to be read with `unseal`. */
  prompt(decision: string): Promise<Uint8Array | undefined>;
  /** Counts by model and time, oldest first. */
  tallies(query: TallyQuery): Promise<Tally[]>;
  /** US dollars spent by an API key in a calendar month (see `monthOf`). */
  spent(owner: string, month: string): Promise<number>;

  /** Returns a token, or undefined if another holder's lease is still valid and `steal` is not set. */
  acquireLease(
    router: string,
    holder: string,
    milliseconds: number,
    steal?: boolean,
  ): Promise<number | undefined>;
  /** Returns false if another holder has taken the lease. */
  renewLease(router: string, token: number, milliseconds: number): Promise<boolean>;
  releaseLease(router: string, token: number): Promise<void>;
  /** Saves posterior and position together. Throws LeaseLost if the token is old. */
  saveSnapshot(snapshot: StoredSnapshot, token: number): Promise<void>;
  /** The newest snapshot, or the newest one at or before `atMost`. */
  snapshot(router: string, atMost?: number): Promise<StoredSnapshot | undefined>;
  snapshotPositions(router: string): Promise<number[]>;

  /** Deletes old entries in small transactions. */
  prune(what: PruneQuery): Promise<PruneReport>;
  horizon(router: string): Promise<number>;

  keys(): Promise<StoredKey[]>;
  saveKey(key: StoredKey): Promise<void>;
  /** 32 random bytes that all nodes share, created at the first call with this name. */
  secret(name: string): Promise<Uint8Array>;

  /**
   * Calls the listener after this node or another one has logged a vote or control or has saved
   * a snapshot. Notifications may be repeated or lost, so listeners also poll. Returns a function
   * that removes the listener.
   */
  onChange(listener: (change: Change) => void): () => void;
  close(): Promise<void>;
}

export type Entry = Event | VoteRequest;

export type Receipt =
  | { readonly status: "logged"; readonly position: number }
  | { readonly status: "repeated" }
  | { readonly status: "refused"; readonly reason: Refusal };

export interface Change {
  readonly router: string;
  /** "log" for a vote or control, "snapshot" for a newer posterior. */
  readonly what: "log" | "snapshot";
  readonly position: number;
}

/** Selects a page of decisions, newest first. */
export interface PageQuery {
  readonly router?: string | undefined;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  /** Position of the last decision on the previous page. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** A decision with its answers and votes. Embeddings are left out because they are large. */
export interface DecisionRecord {
  readonly decision: Logged<Omit<Decision, "x">>;
  readonly answers: readonly Logged<Answered>[];
  readonly votes: readonly Logged<Omit<Voted, "x">>[];
}

export interface TallyQuery {
  readonly router: string;
  /** Start of the period, in milliseconds since 1970. */
  readonly from: number;
  /** End of the period, exclusive. */
  readonly to: number;
  /** Length of one returned bucket in milliseconds, a multiple of BUCKET_MS. */
  readonly step: number;
}

export interface StoredSnapshot {
  readonly router: string;
  readonly position: number;
  readonly at: number;
  /** SHA-256 of the posterior, in hexadecimal. */
  readonly hash: string;
  readonly state: Uint8Array;
}

export interface PruneQuery {
  /** Delete prompts logged before this time. */
  readonly prompts?: number | undefined;
  /** Delete decisions and their answers logged before this time. Their votes stay. */
  readonly decisions?: number | undefined;
  /**
   * Delete votes up to a snapshot, which is then kept permanently because learning starts there.
   * Afterwards no rollback can go further back, earlier votes of a voter can no longer be
   * forgotten, and a changed policy learns only from later votes.
   */
  readonly votes?: { readonly router: string; readonly upTo: number } | undefined;
}

/** Number of deleted entries of each kind. */
export interface PruneReport {
  readonly prompts: number;
  readonly decisions: number;
  readonly votes: number;
}

/** An API key as it is stored: the hash of the key, never the key itself. */
export interface StoredKey {
  /** Public id that names the key in logs and lists. */
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  /** Limit in US dollars per calendar month (UTC). */
  readonly budget?: number | undefined;
  /** Limit in requests per minute. */
  readonly rate?: number | undefined;
  /** Whether to answer with a duel if the request does not say. */
  readonly duels?: boolean | "auto" | undefined;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}
