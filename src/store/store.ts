import type {
  Answered,
  Control,
  Event,
  Learning,
  Logged,
  Routed,
  Voted,
  VoteRequest,
} from "./events.ts";
import type { Refusal } from "./store-error.ts";
import type { Tally } from "./tally.ts";

/**
 * Glossary (events.ts has the words of the log)
 *
 * append     to log several entries in one transaction: all durable, or none
 * receipt    what became of an entry
 * snapshot   the posterior after some position, to start from; a cursor and a state in one
 * lease      the right to save snapshots of a router, for a time
 * token      counts the holders of a lease; who holds an old one is refused (fencing)
 * horizon    votes up to here were pruned: folding begins at the snapshot kept for it
 *
 * The log and what is made of it. SQLite keeps it in a file for one node,
 * PostgreSQL for several; store.case.ts is what both must pass. Methods throw
 * StoreUnavailable where the database cannot be reached, is full or too slow.
 */
export interface Store {
  /** Whether several nodes share it. */
  readonly shared: boolean;

  /** Durable when it returns. Events that are logged already are passed over in silence. */
  append(entries: readonly Entry[]): Promise<Receipt[]>;

  /** Votes and controls after a position, in log order: what is returned once never gets a new predecessor. */
  learning(router: string, after: number, limit: number): Promise<Logged<Learning>[]>;
  controls(router: string): Promise<Logged<Control>[]>;
  /** Position of the newest vote or control; 0 where there is none. */
  head(router: string): Promise<number>;
  /** Position of the newest vote or control that was logged by this time. */
  positionAt(router: string, time: number): Promise<number>;
  /** How many votes a voter has cast. */
  votesOf(router: string, voter: string): Promise<number>;
  routers(): Promise<string[]>;

  /** Routed queries after a position, in log order. */
  routed(router: string, after: number, limit: number): Promise<Logged<Routed>[]>;
  decisions(page: PageQuery): Promise<DecisionRecord[]>;
  decision(id: string): Promise<DecisionRecord | undefined>;
  /** Sealed. */
  prompt(decision: string): Promise<Uint8Array | undefined>;
  /** Counts by model and time, oldest first. */
  tallies(query: TallyQuery): Promise<Tally[]>;
  /** US dollars that a key has spent in a month (`monthOf`). */
  spent(owner: string, month: string): Promise<number>;

  /** The token, or undefined where somebody else's lease has not run out and is not to be taken from him. */
  acquireLease(
    router: string,
    holder: string,
    milliseconds: number,
    steal?: boolean,
  ): Promise<number | undefined>;
  /** False where the lease is somebody else's by now. */
  renewLease(router: string, token: number, milliseconds: number): Promise<boolean>;
  releaseLease(router: string, token: number): Promise<void>;
  /** State and cursor in one; refuses an old token with LeaseLost. */
  saveSnapshot(snapshot: StoredSnapshot, token: number): Promise<void>;
  /** The newest at or before a position. */
  snapshot(router: string, atMost?: number): Promise<StoredSnapshot | undefined>;
  snapshotPositions(router: string): Promise<number[]>;

  /** Deletes what is older, in small steps. */
  prune(what: PruneQuery): Promise<PruneReport>;
  horizon(router: string): Promise<number>;

  keys(): Promise<StoredKey[]>;
  saveKey(key: StoredKey): Promise<void>;
  /** Random bytes that all nodes share, made when first asked for. */
  secret(name: string): Promise<Uint8Array>;

  /** Calls back when something was logged or saved, here or on another node; may do so too often, and may miss some. */
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
  /** log: a vote or control; snapshot: a newer posterior. */
  readonly what: "log" | "snapshot";
  readonly position: number;
}

/** Newest first. */
export interface PageQuery {
  readonly router?: string | undefined;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  /** The position of the last one on the page before. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface DecisionRecord {
  readonly routed: Logged<Omit<Routed, "x">>;
  readonly answers: readonly Logged<Answered>[];
  readonly votes: readonly Logged<Omit<Voted, "x">>[];
}

export interface TallyQuery {
  readonly router: string;
  /** Times; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Buckets are put together to this many milliseconds, a multiple of BUCKET_MS. */
  readonly step: number;
}

export interface StoredSnapshot {
  readonly router: string;
  readonly position: number;
  readonly at: number;
  /** Of the posterior, in hexadecimal. */
  readonly hash: string;
  readonly state: Uint8Array;
}

export interface PruneQuery {
  /** Prompts and decisions logged before these times go; votes stay, they carry what they teach. */
  readonly prompts?: number | undefined;
  readonly decisions?: number | undefined;
  /**
   * Votes too, up to a snapshot that is then kept for good. Lost: folding begins
   * there, so no rollback before it, no voter's earlier votes forgotten, and a
   * changed policy learns from later votes alone.
   */
  readonly votes?: { readonly router: string; readonly upTo: number } | undefined;
}

export interface PruneReport {
  readonly prompts: number;
  readonly decisions: number;
  readonly votes: number;
}

/** An API key as it is kept: never itself, only its hash. */
export interface StoredKey {
  /** Names the key in logs and lists; tells nothing of it. */
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  /** US dollars in a calendar month (UTC). */
  readonly budget?: number | undefined;
  /** Requests a minute. */
  readonly rate?: number | undefined;
  /** Whether its requests may be answered twice, where they do not say. */
  readonly duels?: boolean | "auto" | undefined;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}
