import type {
  AuditQuery,
  AuditRecord,
  HeldLease,
  StoredConfiguration,
  StoredNode,
} from "./administration.ts";
import type { BudgetGrant, BudgetRequest } from "./budget.ts";
import type { Decision } from "./decision.ts";
import type { Answered, Control, DecisionEvent, LogEvent, Logged, Voted } from "./events.ts";
import type { ChangedKey, KeyChanges, StoredKey } from "./key.ts";
import type { VoteRefusal } from "./store-error.ts";
import type { Tally } from "./tally.ts";

/**
 * Glossary (events.ts defines the words of the log)
 *
 * append     write votes and controls in one transaction: either all are durable or none
 * receipt    the result of appending one event
 * record     write decisions and answers; they survive a killed process, but a power failure may
 *            lose the last ones
 * snapshot   the posterior after a position of the log, together with that position
 * lease      the right to save snapshots of a router for a limited time
 * token      a number that increases with every holder of a lease; an old token is refused (fencing)
 * horizon    the position up to which votes were pruned; learning starts from the snapshot kept there
 *
 * Store is the log, the decisions, and everything derived from them. SQLite stores it in files for
 * one node, PostgreSQL stores it for several nodes, and both must pass store.case.ts. Methods throw
 * StoreUnavailable if the database is unreachable, full or too slow.
 */
export interface Store {
  /** True if several nodes use the same database. */
  readonly shared: boolean;

  /**
   * Appends votes and controls, which are durable when the promise resolves. One ballot is one
   * vote: the same vote again is "repeated", and another vote with the same ballot is refused. `groups` has the
   * sizes of groups of consecutive events, of which all are logged or, if one is refused, none; by default each
   * event is its own group.
   */
  append(events: readonly LogEvent[], groups?: readonly number[]): Promise<Receipt[]>;

  /** Votes and controls after a position, in log order. No event is ever inserted before one that was returned. */
  logEvents(router: string, after: number, limit: number): Promise<Logged<LogEvent>[]>;
  /** Controls after a position, in log order. */
  controls(router: string, after?: number): Promise<Logged<Control>[]>;
  /** Position of the newest vote or control, or 0 if there is none. */
  head(router: string): Promise<number>;
  /** Highest position of a vote or control logged at or before `time`, or 0: everything after it was logged later. */
  positionAt(router: string, time: number): Promise<number>;
  /**
   * Voters with votes in the log, and those whose weight was set, in the order of their names. The cost
   * depends on `limit` and not on the length of the log.
   */
  voters(query: VotersQuery): Promise<StoredVoter[]>;
  /** Names of all routers that were ever configured. */
  routers(): Promise<string[]>;
  /**
   * Erases the votes of a voter, their counts, the weight of the voter, and all snapshots that learned
   * from the votes, and logs "voter_forgotten". Returns the number of votes. The snapshot at the horizon
   * stays; `pruned` replaces its content. If there is nothing to erase, nothing is logged. Throws
   * StoreUnavailable if the horizon or its snapshot has changed since `pruned` was read. `scrub` must follow.
   */
  forget(router: string, voter: string, at: number, pruned?: Pruned): Promise<number>;

  /** Removes what was erased from the files. Throws StoreUnavailable while another process reads them; the call can be repeated. */
  scrub(): Promise<void>;

  /**
   * Stores decisions and answers once, however often they are sent, and counts them. Those of
   * `countedOnly` are counted but not stored, because they are not part of the sample.
   */
  record(events: readonly DecisionEvent[], countedOnly?: readonly DecisionEvent[]): Promise<void>;
  /** Decisions with embeddings, oldest first. */
  routed(query: RoutedQuery): Promise<Decision[]>;
  /** Decisions with answers and votes, newest first. */
  decisions(page: PageQuery): Promise<DecisionRecord[]>;
  /**
   * Requests that fulfil all conditions, newest first. May end before the page is full; `next` is
   * the place where the search continues, or undefined at the end.
   */
  search(query: SearchQuery): Promise<SearchResult>;
  /**
   * The decision of this id with its answers and votes. Throws StoreUnavailable if it is
   * not found while decisions of an older version of Joust are still being moved.
   */
  decision(id: string): Promise<DecisionRecord | undefined>;
  /** Time of the oldest of a router's newest `count` decisions, or 0 if there are not that many. */
  timeOfNewest(router: string, count: number): Promise<number>;
  /** The sealed prompt of a decision, to be read with `unseal`. */
  prompt(decision: string): Promise<Uint8Array | undefined>;
  /** Counts by model and time, oldest first. */
  tallies(query: TallyQuery): Promise<Tally[]>;
  /** US dollars spent by an API key in a calendar month (see `monthOf`). */
  spent(owner: string, month: string): Promise<number>;
  /**
   * Leases a part of a key's budget to a node, in one transaction. The dollars that all nodes have
   * spent or hold never exceed the budget, except for what a node has spent beyond its part.
   * Returns the dollars that the node gets on top of `held`, and what is used in total.
   */
  leaseBudget(request: BudgetRequest): Promise<BudgetGrant>;

  /** Stores an embedding that is too large for a vote token, until `until` at least. Durable when the promise resolves. */
  saveEmbedding(decision: string, x: Float64Array, until: number): Promise<void>;
  embedding(decision: string): Promise<Float64Array | undefined>;

  /**
   * Stores responses until `until` at least, in one transaction. An earlier one of the same id and owner is
   * replaced; one of another owner stays as it is.
   */
  saveResponses(responses: readonly StoredResponse[]): Promise<void>;
  response(id: string): Promise<StoredResponse | undefined>;
  /** The responses of these ids whose body has at most `maxBytes` bytes, in any order. */
  responses(ids: readonly string[], maxBytes: number): Promise<StoredResponse[]>;
  deleteResponse(id: string): Promise<void>;

  /**
   * Gives ids that clients chose to decisions, in one transaction, and deletes those whose time is
   * over. Returns for each id whether it names its decision now; false if the owner has given it to
   * another one. Claiming an id again for the same decision changes nothing.
   */
  claimIds(claims: readonly ClientId[]): Promise<boolean[]>;
  /** Frees an id, unless it names another decision. */
  releaseId(claim: Omit<ClientId, "until">): Promise<void>;
  /** Id of the decision to which the owner has given an id. */
  decisionNamed(owner: string, id: string): Promise<string | undefined>;

  /**
   * Acquires the lease of a router. Returns a token, or undefined if another holder's
   * lease is still valid and `steal` is not set.
   */
  acquireLease(
    router: string,
    holder: string,
    milliseconds: number,
    steal?: boolean,
  ): Promise<number | undefined>;
  /** Renews a lease. Returns false if another holder has taken it. */
  renewLease(router: string, token: number, milliseconds: number): Promise<boolean>;
  releaseLease(router: string, token: number): Promise<void>;
  /** Saves posterior and position together. Throws LeaseLost if the token is old. */
  saveSnapshot(snapshot: StoredSnapshot, token: number): Promise<void>;
  /** The newest undamaged snapshot, or the newest one at or before `atMost`. */
  snapshot(router: string, atMost?: number): Promise<StoredSnapshot | undefined>;
  snapshotPositions(router: string): Promise<number[]>;

  /** Deletes old decisions, day by day, and old votes. */
  prune(what: PruneQuery): Promise<PruneReport>;
  horizon(router: string): Promise<number>;

  keys(): Promise<StoredKey[]>;
  /** Adds a key. Returns false and changes nothing if another key of this name is not revoked. */
  addKey(key: StoredKey): Promise<boolean>;
  /**
   * Changes a key in one transaction, so that changes at the same time do not undo each other.
   * Returns undefined and changes nothing if there is no such key or it is revoked.
   */
  changeKey(id: string, changes: KeyChanges): Promise<ChangedKey | undefined>;
  /** 32 random bytes that all nodes share, created at the first call with this name. */
  secret(name: string): Promise<Uint8Array>;
  deleteSecret(name: string): Promise<void>;

  /** The newest configuration, or the newest one up to a revision. */
  configuration(revision?: number): Promise<StoredConfiguration | undefined>;
  /** Revision of the newest configuration, or 0 if there is none. */
  revision(): Promise<number>;
  /**
   * Saves a configuration together with its audit record. Returns false and saves nothing if its
   * revision does not follow the newest one.
   */
  saveConfiguration(configuration: StoredConfiguration, record: AuditRecord): Promise<boolean>;
  /** Audit records, newest first. */
  audit(query: AuditQuery): Promise<AuditRecord[]>;
  saveAudit(record: AuditRecord): Promise<void>;

  /** Refuses a session of the page on all nodes. `until` is the time at which it would have expired. */
  endSession(id: string, until: number): Promise<void>;
  /** Ids of the ended sessions that have not expired yet. */
  endedSessions(): Promise<string[]>;

  /** Saves a sign of life of a node. */
  saveNode(node: Omit<StoredNode, "seen">): Promise<void>;
  deleteNode(id: string): Promise<void>;
  nodes(): Promise<StoredNode[]>;
  leases(): Promise<HeldLease[]>;

  /** Resolves when all decisions that an older version of Joust has logged are stored by day. */
  migrated(): Promise<void>;

  /**
   * Calls the listener after this node or another one has logged a vote or control, or has saved
   * a snapshot or a configuration. Notifications may be repeated or lost, so listeners also poll. Returns a function
   * that removes the listener.
   */
  onChange(listener: (change: Change) => void): () => void;
  close(): Promise<void>;
}

/** `isLearned` is false for a vote with the weight 0. */
export type Receipt =
  | { readonly status: "logged"; readonly position: number; readonly isLearned: boolean }
  | { readonly status: "repeated"; readonly isLearned: boolean }
  | { readonly status: "refused"; readonly reason: VoteRefusal }
  /** Another event of the same group was refused. */
  | { readonly status: "withheld" };

export interface Change {
  /** Name of the router; "" for a configuration. */
  readonly router: string;
  /** "log" for a vote or control, "forgotten" if votes were erased, "snapshot" for a newer posterior. */
  readonly what: "log" | "forgotten" | "snapshot" | "configuration";
  /** Position in the log; for a configuration, its revision. */
  readonly position: number;
}

/** A response that a client may read and continue by its id. */
export interface StoredResponse {
  readonly id: string;
  /** Id of the API key; "" without a key. */
  readonly owner: string;
  /** Time in milliseconds since 1970 up to which the response is kept. */
  readonly until: number;
  /** Sealed content, to be read with `unseal`. */
  readonly body: Uint8Array;
}

/** An id that a client chose for a request, by which it can vote later. */
export interface ClientId {
  /** Id of the API key; "" without a key. */
  readonly owner: string;
  readonly id: string;
  /** Id of the decision. */
  readonly decision: string;
  /** Time in milliseconds since 1970 up to which the id is kept. */
  readonly until: number;
}

/** The place of a decision in the order of time: its time, then its id. */
export interface Cursor {
  readonly at: number;
  readonly id: string;
}

/** Selects a page of decisions, newest first. */
export interface PageQuery {
  readonly router?: string | undefined;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  /** The last decision of the previous page. */
  readonly before?: Cursor | undefined;
  /** Earliest time, in milliseconds since 1970. Days before it are not read. */
  readonly since?: number | undefined;
  readonly limit: number;
  /** Whether to return embeddings, which are large. */
  readonly withX?: boolean | undefined;
}

/** Selects requests. Conditions on answers hold for one answer of the request together. */
export interface SearchQuery
  extends Pick<PageQuery, "router" | "owner" | "session" | "before" | "since" | "limit"> {
  /** Latest time, in milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly model?: string | undefined;
  /** "fallback" for an answer that came after another model had failed. */
  readonly outcome?: "ok" | "failed" | "cancelled" | "fallback" | undefined;
  /** Limits of the cost of an answer in US dollars. */
  readonly minCost?: number | undefined;
  readonly maxCost?: number | undefined;
  readonly minLatencyMs?: number | undefined;
  readonly maxLatencyMs?: number | undefined;
  readonly vote?: VoteFilter | undefined;
  /** Text that the prompt contains, in upper or lower case. Finds only prompts that are stored in the clear. */
  readonly text?: string | undefined;
  /**
   * Whether to leave out duels whose models are hidden. The result then tells nothing about their answers, neither by
   * its requests nor by the place where it ends.
   */
  readonly exceptHidden?: boolean | undefined;
}

/** Any vote, none, the winner of a duel, or a rating from 0 up ("good") or below 0 ("bad"). */
export type VoteFilter =
  | "any"
  | "none"
  | "first"
  | "second"
  | "tie"
  | "both_bad"
  | "good"
  | "bad"
  | "comment";

export interface SearchResult {
  readonly records: readonly DecisionRecord[];
  readonly next?: Cursor | undefined;
}

/** Selects decisions of a router, oldest first. */
export interface RoutedQuery {
  readonly router: string;
  /** The last decision of the previous page. */
  readonly after?: Cursor | undefined;
  /** Earliest time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly limit: number;
}

/** A decision with its answers and votes. */
export interface DecisionRecord {
  /** `Store.decision` returns the embedding; `Store.decisions` only if it is requested. */
  readonly decision: Omit<Decision, "x"> & Partial<Pick<Decision, "x">>;
  readonly answers: readonly Answered[];
  readonly votes: readonly Logged<Omit<Voted, "x">>[];
}

export interface VotersQuery {
  readonly router: string;
  /** Name with which the page starts. */
  readonly from?: string | undefined;
  readonly limit: number;
}

/** A voter of the log. */
export interface StoredVoter {
  /** Name; "" stands for all votes without one. */
  readonly voter: string;
  /** Number of votes in the log without comments, counted up to MOST_COUNTED_VOTES. */
  readonly votes: number;
  /** Times of the first and the last of these votes; undefined if there is none. */
  readonly first?: number | undefined;
  readonly last?: number | undefined;
}

/** Votes of one voter beyond this number are not counted, so that a list of voters takes a limited time. */
export const MOST_COUNTED_VOTES = 10_000;

export interface TallyQuery {
  readonly router: string;
  /** Start of the period, in milliseconds since 1970. */
  readonly from: number;
  /** End of the period, exclusive. */
  readonly to: number;
  /** Length of one returned bucket in milliseconds, a multiple of BUCKET_MS. */
  readonly step: number;
}

export interface StoredSnapshot extends SnapshotContent {
  readonly router: string;
  readonly position: number;
  readonly at: number;
}

interface SnapshotContent {
  /** SHA-256 of the posterior, in hexadecimal. */
  readonly hash: string;
  readonly state: Uint8Array;
}

/** The snapshot from which a router learns after votes were pruned, as it was read before a voter is forgotten. */
export interface Pruned {
  /** Position of the horizon, or 0 if no votes were pruned. */
  readonly horizon: number;
  /** Hash of the snapshot there. */
  readonly hash: string | undefined;
  /** The snapshot there without a voter; undefined if it has no record of the voter. */
  readonly start: SnapshotContent | undefined;
}

export interface PruneQuery {
  /** Delete the days that ended before this time: decisions, answers and prompts. Votes and counts stay. */
  readonly decisions?: number | undefined;
  /**
   * Delete votes up to a snapshot, which is then kept permanently because learning starts there.
   * Afterwards no rollback can go further back, earlier votes of a voter can no longer be
   * forgotten, and a changed policy learns only from later votes. Votes on decisions from before
   * that snapshot are refused, because they may have been deleted.
   */
  readonly votes?: { readonly router: string; readonly upTo: number } | undefined;
}

/** Number of deleted entries of each kind. */
export interface PruneReport {
  readonly decisions: number;
  readonly votes: number;
}
