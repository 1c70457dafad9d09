import type { DecisionEvent } from "../events.ts";
import type { Select } from "../queries.ts";
import { checksumOf, type Row } from "../row.ts";
import { literal, type Statement, sql, type Work } from "../sql.ts";
import type { Change, Store } from "../store.ts";
import type { Tally } from "../tally.ts";
import { Writes } from "../writes.ts";
import { type DayBatch, recordInBatches } from "./batch.ts";
import { lastPosition } from "./check.ts";
import { BUSY_MS, type Connection, connect, connectReader, translated } from "./connect.ts";
import { tallyAdder } from "./counts.ts";
import { DayFiles } from "./days.ts";
import { HeadFile } from "./head-file.ts";
import { perform, selectRows } from "./kept-statements.ts";
import { moveLegacy } from "./legacy.ts";
import { record } from "./record.ts";

/**
 * The store in SQLite files: the main file and one file of decisions per day. Its methods block
 * their thread, for milliseconds during an fsync, so `openSqlite` runs it on a separate thread.
 */
export class SqliteStore extends Writes implements Store {
  readonly shared = false;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #days: DayFiles;
  readonly #head: HeadFile;
  readonly #addTallies: ReturnType<typeof tallyAdder>;
  readonly #now: () => number;
  /** Changes of the transaction that is running. */
  #changes: Change[] = [];

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
    this.#addTallies = tallyAdder(writer);
    this.#now = now;
    // The newest decisions are available at once, the others soon.
    days.isMoving = translated(() => moveLegacy(writer, days));
    this.moveInBackground(() => moveLegacy(writer, days));
  }

  protected async transact<T>(work: Work<T>): Promise<T> {
    const result = translated(() => {
      this.#changes = [];
      return this.#writer.transaction(() => perform(this.#writer, work)).immediate();
    });
    const logged = this.#changes.filter(({ what }) => what === "log" || what === "forgotten");
    if (logged.length > 0) this.#head.write(Math.max(...logged.map(({ position }) => position)));
    for (const change of this.#changes) this.listeners.tell(change);
    return result;
  }

  protected async run<T>(statement: Statement): Promise<readonly T[]> {
    return translated(() => selectRows<T>(this.#writer, statement));
  }

  protected now(): Statement {
    return sql`${this.#now()}`;
  }

  protected readonly forUpdate = literal("");

  protected lockBudget(): Statement[] {
    return [];
  }

  protected announce(change: Change): Statement[] {
    this.#changes.push(change);
    return [];
  }

  protected addTallies(tallies: readonly Tally[], factor: 1 | -1 = 1): Statement[] {
    this.#addTallies(tallies, factor);
    return [];
  }

  /** SQLite has one writer at a time, so positions follow the order of commits. */
  protected *insertRows(rows: readonly Row[]): Work<number[]> {
    const first = lastPosition(this.#writer) + 1;
    for (const [i, row] of rows.entries()) {
      const position = first + i;
      const { router, kind, at, decision, ballot, voter, x, body } = row;
      yield sql`
        INSERT INTO log (position, router, kind, at, decision, ballot, voter, x, body, checksum)
        VALUES (${position}, ${router}, ${kind}, ${at}, ${decision}, ${ballot}, ${voter}, ${x}, ${body},
                ${checksumOf({ ...row, position })})`;
    }
    return rows.map((_, i) => first + i);
  }

  protected async shrink(): Promise<boolean> {
    return translated(() => {
      // Old content stays in the write-ahead log until it is truncated, which needs no free space.
      if (!this.#truncateLog()) return false;
      this.#writer.pragma("incremental_vacuum");
      return this.#truncateLog();
    });
  }

  /** Returns false if another process still reads the write-ahead log. Votes wait meanwhile. */
  #truncateLog(): boolean {
    this.#writer.pragma(`busy_timeout = ${TRUNCATE_MS}`);
    try {
      return this.#writer.pragma("wal_checkpoint(truncate)", { simple: true }) === 0;
    } finally {
      this.#writer.pragma(`busy_timeout = ${BUSY_MS}`);
    }
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

  /** Limits the size of the main file. Tests use it to simulate a full disk. */
  limitPages(pages: number): void {
    this.#writer.pragma(`max_page_count = ${pages}`);
  }

  async close() {
    this.isClosed = true;
    this.#reader.close();
    const deleted = this.#days.close();
    this.#writer.close();
    this.#head.close();
    await deleted;
  }
}

/** Longest time to wait for readers of the write-ahead log. */
const TRUNCATE_MS = 1000;

function selectFrom(db: Connection): Select {
  return async <T>(statement: Parameters<Select>[0]) =>
    translated(() => selectRows<T>(db, statement));
}
