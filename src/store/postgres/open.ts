import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { AuditRecord, StoredConfiguration, StoredNode } from "../administration.ts";
import { Listeners } from "../changes.ts";
import type { DecisionEvent, LogEvent } from "../events.ts";
import type { KeyChanges, StoredKey } from "../key.ts";
import { pruneInSteps } from "../prune.ts";
import type { Select } from "../queries.ts";
import { SearchQueries } from "../search.ts";
import { hasNul, textOf } from "../sql.ts";
import type {
  BudgetRequest,
  Change,
  ClientId,
  PruneQuery,
  PruneReport,
  Receipt,
  SnapshotContent,
  Store,
  StoredResponse,
  StoredSnapshot,
} from "../store.ts";
import { halfBytesOf } from "../vector.ts";
import * as administration from "./administration.ts";
import { append, forget } from "./append.ts";
import { migrate, poolOf, transaction, unavailable } from "./connect.ts";
import { Partitions } from "./days.ts";
import { moveLegacy } from "./legacy.ts";
import { Listening } from "./listen.ts";
import { record } from "./record.ts";
import * as writes from "./writes.ts";

/** Connects to a PostgreSQL database and runs the missing migrations. */
export async function openPostgres(url: string): Promise<Store> {
  const pool = poolOf(url);
  try {
    await migrate(pool, url);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const store = new PostgresStore(pool, url, new Partitions(pool));
  await store.start();
  return store;
}

/** The store in PostgreSQL: any number of nodes append, and one node at a time learns for each router. */
class PostgresStore extends SearchQueries implements Store {
  readonly shared = true;
  readonly #pool: pg.Pool;
  readonly #listeners = new Listeners();
  readonly #listening: Listening;
  readonly #days: Partitions;
  /** The shard of the counts that this node adds to. */
  readonly #shard = randomInt(SHARDS);
  #migrated: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(pool: pg.Pool, url: string, days: Partitions) {
    super(selectFrom(pool), days);
    this.#pool = pool;
    this.#days = days;
    this.#listening = new Listening(url, (change) => this.#listeners.tell(change));
  }

  /** Listens for changes and starts to move decisions of version 0.1. The newest are available at once. */
  async start(): Promise<void> {
    await this.#listening.connect();
    this.#days.isMoving = await moveLegacy(this.#pool, this.#days);
    this.#migrated = this.#moveRest();
  }

  append(events: readonly LogEvent[]): Promise<Receipt[]> {
    return append(this.#pool, events, this.#shard);
  }

  forget(router: string, voter: string, at: number, start?: SnapshotContent): Promise<number> {
    return forget(this.#pool, router, voter, at, start, this.#shard);
  }

  async record(
    events: readonly DecisionEvent[],
    countedOnly: readonly DecisionEvent[] = [],
  ): Promise<void> {
    if (events.length + countedOnly.length > 0) {
      return record(this.#pool, this.#days, events, countedOnly, this.#shard);
    }
    // An empty batch tests whether the database is available.
    await transaction(this.#pool, "", async () => {});
  }

  saveEmbedding(decision: string, x: Float64Array, until: number) {
    return writes.saveEmbedding(this.#pool, decision, halfBytesOf(x), until);
  }

  saveResponses(responses: readonly StoredResponse[]) {
    return writes.saveResponses(this.#pool, responses);
  }

  deleteResponse(id: string) {
    return writes.deleteResponse(this.#pool, id);
  }

  claimIds(claims: readonly ClientId[]) {
    return writes.claimIds(this.#pool, claims);
  }

  releaseId(claim: Omit<ClientId, "until">) {
    return writes.releaseId(this.#pool, claim);
  }

  acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    return writes.acquireLease(this.#pool, router, holder, milliseconds, steal);
  }

  async leaseBudget(request: BudgetRequest) {
    const logged = await this.spent(request.owner, request.month);
    return writes.leaseBudget(this.#pool, request, logged);
  }

  renewLease(router: string, token: number, milliseconds: number) {
    return writes.renewLease(this.#pool, router, token, milliseconds);
  }

  async releaseLease(router: string, token: number) {
    await writes.renewLease(this.#pool, router, token, -1);
  }

  saveSnapshot(snapshot: StoredSnapshot, token: number) {
    return writes.saveSnapshot(this.#pool, snapshot, token);
  }

  async prune({ decisions, votes }: PruneQuery): Promise<PruneReport> {
    const dropped = decisions === undefined ? 0 : await this.#days.drop(decisions);
    if (!votes) return { decisions: dropped, votes: 0 };
    const { router, upTo } = votes;
    const pruned = await pruneInSteps((limit) =>
      writes.pruneVotes(this.#pool, router, upTo, limit),
    );
    return { decisions: dropped, votes: pruned };
  }

  addKey(key: StoredKey) {
    return writes.addKey(this.#pool, key);
  }

  changeKey(id: string, changes: KeyChanges) {
    return writes.changeKey(this.#pool, id, changes);
  }

  secret(name: string) {
    return writes.secret(this.#pool, name);
  }

  deleteSecret(name: string) {
    return writes.deleteSecret(this.#pool, name);
  }

  saveConfiguration(configuration: StoredConfiguration, record: AuditRecord) {
    return administration.saveConfiguration(this.#pool, configuration, record);
  }

  saveAudit(record: AuditRecord) {
    return administration.saveAudit(this.#pool, record);
  }

  endSession(id: string, until: number) {
    return administration.endSession(this.#pool, id, until);
  }

  saveNode(node: Omit<StoredNode, "seen">) {
    return administration.saveNode(this.#pool, node);
  }

  deleteNode(id: string) {
    return administration.deleteNode(this.#pool, id);
  }

  migrated(): Promise<void> {
    return this.#migrated;
  }

  async #moveRest(): Promise<void> {
    while (this.#days.isMoving && !this.#isClosed) {
      try {
        this.#days.isMoving = await moveLegacy(this.#pool, this.#days);
      } catch {
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  onChange(listener: (change: Change) => void) {
    return this.#listeners.add(listener);
  }

  async close() {
    this.#isClosed = true;
    await this.#migrated;
    await this.#listening.close();
    await this.#pool.end();
  }
}

const SHARDS = 64;
const RETRY_MS = 1000;

function selectFrom(pool: pg.Pool): Select {
  return async <T>(statement: Parameters<Select>[0]) => {
    if (hasNul(statement)) return [];
    try {
      const text = textOf(statement, (n) => `$${n}`);
      const { rows } = await pool.query(text, [...statement.values]);
      return rows as T[];
    } catch (error) {
      throw unavailable(error);
    }
  };
}
