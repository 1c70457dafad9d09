import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { AuditRecord, StoredConfiguration, StoredNode } from "../administration.ts";
import { Listeners } from "../changes.ts";
import type { DecisionEvent, LogEvent } from "../events.ts";
import type { KeyChanges, StoredKey } from "../key.ts";
import { pruneInSteps } from "../prune.ts";
import type { Select } from "../queries.ts";
import { SearchQueries } from "../search.ts";
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
import { type AppendResult, appender } from "./append.ts";
import { type DayBatch, recordInBatches } from "./batch.ts";
import { lastPosition } from "./check.ts";
import { type Connection, connect, connectReader, translated } from "./connect.ts";
import { DayFiles } from "./days.ts";
import { forget } from "./forget.ts";
import { HeadFile } from "./head-file.ts";
import { selectRows } from "./kept-statements.ts";
import { moveLegacy } from "./legacy.ts";
import { record } from "./record.ts";
import * as writes from "./writes.ts";

/**
 * The store in SQLite files: the main file and one file of decisions per day. Its methods block
 * their thread, for milliseconds during an fsync, so `openSqlite` runs it on a separate thread.
 */
export class SqliteStore extends SearchQueries implements Store {
  readonly shared = false;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #days: DayFiles;
  readonly #head: HeadFile;
  readonly #append: (events: readonly LogEvent[]) => AppendResult;
  readonly #listeners = new Listeners();
  readonly #now: () => number;
  readonly #migrated: Promise<void>;
  #isClosed = false;

  /** Tests of many short logs are not durable: their commits do not wait for the disk. */
  constructor(file: string, now: () => number, isDurable = true) {
    const writer = connect(file, isDurable);
    const reader = connectReader(file);
    const days = new DayFiles(file, writer);
    super(selectFrom(reader), days);
    this.#writer = writer;
    this.#reader = reader;
    this.#days = days;
    this.#head = new HeadFile(file, lastPosition(writer));
    this.#append = appender(writer);
    this.#now = now;
    // The newest decisions are available at once, the others soon.
    days.isMoving = translated(() => moveLegacy(writer, days));
    this.#migrated = this.#moveRest();
  }

  async append(events: readonly LogEvent[]): Promise<Receipt[]> {
    const { receipts, changes } = translated(() => this.#append(events));
    this.#acknowledge(Math.max(0, ...changes.map(({ position }) => position)));
    for (const change of changes) this.#listeners.tell(change);
    return receipts;
  }

  async forget(router: string, voter: string, at: number, start?: SnapshotContent) {
    const { votes, position } = translated(() => {
      const forgotten = forget(this.#writer, router, voter, at, start);
      writes.shrink(this.#writer);
      return forgotten;
    });
    this.#acknowledge(position);
    if (position > 0) this.#listeners.tell({ router, what: "forgotten", position });
    return votes;
  }

  #acknowledge(position: number): void {
    if (position > 0) this.#head.write(position);
  }

  async record(
    events: readonly DecisionEvent[],
    countedOnly: readonly DecisionEvent[] = [],
  ): Promise<void> {
    await recordInBatches(events, countedOnly, (batch) => this.recordBatch(batch));
  }

  /** Writes events that were prepared on another thread. */
  async recordBatch(batch: DayBatch): Promise<readonly number[]> {
    return translated(() => record(this.#days, batch));
  }

  async saveEmbedding(decision: string, x: Float64Array, until: number) {
    const bytes = halfBytesOf(x);
    translated(() => writes.saveEmbedding(this.#writer, decision, bytes, until, this.#now()));
  }

  async saveResponses(responses: readonly StoredResponse[]) {
    translated(() => writes.saveResponses(this.#writer, responses, this.#now()));
  }

  async deleteResponse(id: string) {
    translated(() => writes.deleteResponse(this.#writer, id));
  }

  async claimIds(claims: readonly ClientId[]) {
    return translated(() => writes.claimIds(this.#writer, claims, this.#now()));
  }

  async releaseId(claim: Omit<ClientId, "until">) {
    translated(() => writes.releaseId(this.#writer, claim));
  }

  async acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    const now = this.#now();
    const free = steal ? Number.MAX_SAFE_INTEGER : now;
    const until = now + milliseconds;
    return translated(() => writes.acquireLease(this.#writer, router, holder, until, free));
  }

  async leaseBudget(request: BudgetRequest) {
    const logged = await this.spent(request.owner, request.month);
    const now = this.#now();
    const until = now + request.milliseconds;
    return translated(() => writes.leaseBudget(this.#writer, request, logged, now, until));
  }

  async renewLease(router: string, token: number, milliseconds: number) {
    const until = this.#now() + milliseconds;
    return translated(() => writes.renewLease(this.#writer, router, token, until));
  }

  async releaseLease(router: string, token: number) {
    translated(() => writes.renewLease(this.#writer, router, token, this.#now() - 1));
  }

  async saveSnapshot(snapshot: StoredSnapshot, token: number) {
    translated(() => writes.saveSnapshot(this.#writer, snapshot, token));
    const { router, position } = snapshot;
    this.#listeners.tell({ router, what: "snapshot", position });
  }

  async prune({ decisions, votes }: PruneQuery): Promise<PruneReport> {
    const dropped = decisions === undefined ? 0 : translated(() => this.#days.drop(decisions));
    if (!votes) return { decisions: dropped, votes: 0 };
    const { router, upTo } = votes;
    const pruned = await pruneInSteps((limit) =>
      translated(() => writes.pruneVotes(this.#writer, router, upTo, limit)),
    );
    translated(() => writes.shrink(this.#writer));
    return { decisions: dropped, votes: pruned };
  }

  async addKey(key: StoredKey) {
    return translated(() => writes.addKey(this.#writer, key));
  }

  async changeKey(id: string, changes: KeyChanges) {
    return translated(() => writes.changeKey(this.#writer, id, changes));
  }

  async secret(name: string) {
    return translated(() => writes.secret(this.#writer, name));
  }

  async deleteSecret(name: string) {
    translated(() => writes.deleteSecret(this.#writer, name));
  }

  async saveConfiguration(configuration: StoredConfiguration, record: AuditRecord) {
    const isSaved = translated(() =>
      administration.saveConfiguration(this.#writer, configuration, record),
    );
    const { revision: position } = configuration;
    if (isSaved) this.#listeners.tell({ router: "", what: "configuration", position });
    return isSaved;
  }

  async saveAudit(record: AuditRecord) {
    translated(() => administration.saveAudit(this.#writer, record));
  }

  async endSession(id: string, until: number) {
    translated(() => administration.endSession(this.#writer, id, until, this.#now()));
  }

  async saveNode(node: Omit<StoredNode, "seen">) {
    translated(() => administration.saveNode(this.#writer, node, this.#now()));
  }

  async deleteNode(id: string) {
    translated(() => administration.deleteNode(this.#writer, id));
  }

  migrated(): Promise<void> {
    return this.#migrated;
  }

  /** Moves the other decisions of version 0.1 step by step. Other calls run in between. */
  async #moveRest(): Promise<void> {
    while (this.#days.isMoving) {
      await setImmediate();
      if (this.#isClosed) return;
      try {
        this.#days.isMoving = moveLegacy(this.#writer, this.#days);
      } catch {
        // The disk may be full. The decisions stay where they are until a later attempt.
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  onChange(listener: (change: Change) => void) {
    return this.#listeners.add(listener);
  }

  /** Limits the size of the main file. Tests use it to simulate a full disk. */
  limitPages(pages: number): void {
    this.#writer.pragma(`max_page_count = ${pages}`);
  }

  async close() {
    this.#isClosed = true;
    this.#reader.close();
    const deleted = this.#days.close();
    this.#writer.close();
    this.#head.close();
    await deleted;
  }
}

const RETRY_MS = 1000;

function selectFrom(db: Connection): Select {
  return async <T>(statement: Parameters<Select>[0]) =>
    translated(() => selectRows<T>(db, statement));
}
