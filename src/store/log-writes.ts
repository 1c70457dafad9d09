import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { invalidValue } from "../core/errors/joust-error.ts";
import {
  isBeforeHorizon,
  receiptOfUsedBallot,
  VOTES_PER_DECISION,
  withBoundedWeight,
} from "./ballot.ts";
import { Listeners } from "./changes.ts";
import type { LogEvent, Voted } from "./events.ts";
import { COMMENT_PREFIX, eventOf, type LoggedRow, type Row, rowOf } from "./row.ts";
import { SearchQueries } from "./search.ts";
import { joined, rowsOf, type Statement, sql, type Work } from "./sql.ts";
import type { Change, Pruned, PruneQuery, PruneReport, Receipt } from "./store.ts";
import { StoreUnavailable } from "./store-error.ts";
import { type Tally, tally } from "./tally.ts";

/** Locks that the nodes of a PostgreSQL database share. SQLite needs none, because it runs one transaction at a time. */
export type Lock = "append" | "keys";

/** Writes and erases votes and controls. Each database implements the abstract members. */
export abstract class LogWrites extends SearchQueries {
  protected readonly listeners = new Listeners();

  /** Runs statements in one transaction, which is durable when the promise resolves. */
  protected abstract transact<T>(work: Work<T>, lock?: Lock): Promise<T>;
  /** Inserts rows into the log and returns their positions, which increase in the order of the rows. */
  protected abstract insertRows(rows: readonly Row[]): Work<number[]>;
  /** Adds tallies, or subtracts them with factor -1. */
  protected abstract addTallies(tallies: readonly Tally[], factor?: 1 | -1): Iterable<Statement>;
  /** Tells the listeners of all nodes about a change once the transaction is committed. */
  protected abstract announce(change: Change): Iterable<Statement>;
  /** Removes the content of deleted rows from the files. Returns false if another process reads old content. */
  protected abstract shrink(): Promise<boolean>;
  /** End of a SELECT whose rows no other transaction may change before the commit. */
  protected abstract readonly forUpdate: Statement;

  onChange(listener: (change: Change) => void): () => void {
    return this.listeners.add(listener);
  }

  append(events: readonly LogEvent[], groups?: readonly number[]): Promise<Receipt[]> {
    // An empty append tests whether the database is available.
    return this.transact(this.#append(events, groups), events.length > 0 ? "append" : undefined);
  }

  *#append(
    events: readonly LogEvent[],
    groups: readonly number[] = events.map(() => 1),
  ): Work<Receipt[]> {
    if (events.length === 0) return [];
    const rows = events.map(rowOf);
    const used = yield* usedBallots(rows);
    const votesOn = yield* voteCounts(rows);
    const horizons = yield* horizonTimes(rows);
    const receipts: Receipt[] = new Array(events.length);
    const accepted: number[] = [];
    const unlearned = new Set<number>();
    let end = 0;
    for (const size of groups) {
      const start = end;
      end += size;
      const group = receiptsOfGroup(events.slice(start, end), rows.slice(start, end), {
        used,
        horizons,
      });
      group.forEach((receipt, n) => {
        if (receipt) receipts[start + n] = receipt;
      });
      if (group.some((receipt) => receipt?.status === "refused")) continue;
      const added = group.flatMap((receipt, n) => (receipt ? [] : [start + n]));
      for (const i of added) {
        const [event, row] = [events[i]!, rows[i]!];
        accepted.push(i);
        if (event.kind !== "voted") continue;
        const others = votesOn.get(row.decision!) ?? 0;
        const vote = withBoundedWeight(event, others);
        rows[i] = rowOf(vote);
        if (vote.weight === 0) unlearned.add(i);
        if (!("comment" in event.verdict)) votesOn.set(row.decision!, others + 1);
        used.set(keyOf(row), rows[i].body);
      }
    }
    const positions = yield* this.insertRows(accepted.map((i) => rows[i]!));
    const last = new Map<string, number>();
    accepted.forEach((i, n) => {
      const position = positions[n]!;
      receipts[i] = { status: "logged", position, isLearned: !unlearned.has(i) };
      last.set(events[i]!.router, position);
    });
    yield* this.addTallies(tally(accepted.map((i) => events[i]!)));
    for (const [router, position] of last) yield* this.announce({ router, what: "log", position });
    return receipts;
  }

  forget(router: string, voter: string, at: number, pruned?: Pruned): Promise<number> {
    return this.transact(this.#forget(router, voter, at, pruned), "append");
  }

  async scrub(): Promise<void> {
    if (await this.shrink()) return;
    throw new StoreUnavailable(
      'the votes are erased, but their content stays in the files while another process, such as a backup, reads them; forget the voter again later: "has no vote" then means that nothing is left',
      60,
    );
  }

  /** Returns the number of votes. */
  *#forget(router: string, voter: string, at: number, pruned: Pruned | undefined): Work<number> {
    // `saveSnapshot` waits for this lock and then sees that a voter was forgotten.
    yield sql`SELECT 1 FROM leases WHERE router = ${router} ${this.forUpdate}`;
    const [horizon] = yield* rowsOf<{ position: number; hash: string | null }>(sql`
      SELECT position, s.hash FROM horizons h LEFT JOIN snapshots s USING (router, position)
      WHERE router = ${router}`);
    const current = horizon ?? { position: 0, hash: null };
    if (pruned && (pruned.horizon !== current.position || (pruned.hash ?? null) !== current.hash)) {
      throw new StoreUnavailable(
        "votes were pruned, or another voter was forgotten, at the same time",
      );
    }
    const { start } = pruned ?? {};
    const rows = yield* rowsOf<Omit<LoggedRow, "x" | "ballot">>(sql`
      DELETE FROM log WHERE kind = 'voted' AND router = ${router} AND voter = ${voter}
      RETURNING position, router, kind, at, decision, voter, body`);
    // The first condition makes the database use the index of controls.
    const weighings = yield sql`
      DELETE FROM log WHERE kind <> 'voted' AND kind = 'voter_weighed' AND router = ${router}
        AND voter = ${voter}
      RETURNING position`;
    const votes = rows.length;
    if (votes === 0 && weighings.length === 0 && !start) return 0;
    const control = rowOf({ kind: "voter_forgotten", router, at, votes });
    const [position] = yield* this.insertRows([control]);
    yield sql`
      DELETE FROM snapshots WHERE router = ${router} AND position NOT IN (
        SELECT position FROM horizons WHERE router = ${router})`;
    if (start) {
      const { hash, state } = start;
      yield sql`
        UPDATE snapshots SET hash = ${hash}, state = ${state}, checksum = ${crc32(state)}
        WHERE router = ${router}`;
    }
    yield* this.addTallies(tally(rows.map(eventOf<Voted>)), -1);
    yield* this.announce({ router, what: "forgotten", position: position! });
    return votes;
  }

  async prune({ decisions, votes }: PruneQuery): Promise<PruneReport> {
    const dropped = decisions === undefined ? 0 : await this.days.drop(decisions);
    if (!votes) return { decisions: dropped, votes: 0 };
    for (let total = 0; ; ) {
      // Steps of limited size, so that appends never wait long.
      const count = await this.transact(this.#pruneVotes(votes.router, votes.upTo), "append");
      total += count;
      if (count < PRUNE_STEP) {
        await this.shrink();
        return { decisions: dropped, votes: total };
      }
      await setImmediate();
    }
  }

  /** Deletes some votes up to the snapshot at `upTo`, which becomes the horizon. */
  *#pruneVotes(router: string, upTo: number): Work<number> {
    // The row lock prevents `saveSnapshot` from deleting this snapshot before the commit; `forget` waits
    // for the lock of appends.
    const kept = yield sql`
      SELECT 1 FROM snapshots WHERE router = ${router} AND position = ${upTo} ${this.forUpdate}`;
    if (kept.length === 0) {
      throw invalidValue(
        `no snapshot of ${router} at ${upTo}`,
        "prune votes up to the position of a snapshot",
      );
    }
    yield sql`
      INSERT INTO horizons AS old (router, position) VALUES (${router}, ${upTo})
      ON CONFLICT (router) DO UPDATE SET position = excluded.position
      WHERE old.position < excluded.position`;
    const pruned = yield sql`
      DELETE FROM log WHERE position IN (
        SELECT position FROM log WHERE kind = 'voted' AND router = ${router} AND position <= ${upTo}
        ORDER BY position LIMIT ${PRUNE_STEP})
      RETURNING position`;
    return pruned.length;
  }
}

const PRUNE_STEP = 500;

/** Receipts of events that are logged together, undefined for those that are new. If one is refused, the others are withheld. */
function receiptsOfGroup(
  events: readonly LogEvent[],
  rows: readonly Row[],
  known: {
    /** Bodies of earlier votes by their ballots. */
    readonly used: ReadonlyMap<string, string>;
    readonly horizons: ReadonlyMap<string, number>;
  },
): (Receipt | undefined)[] {
  const own = new Map<string, string>();
  const receipts = events.map((event, i): Receipt | undefined => {
    if (event.kind !== "voted") return undefined;
    const row = rows[i]!;
    const key = keyOf(row);
    const body = own.get(key) ?? known.used.get(key);
    if (body !== undefined) return receiptOfUsedBallot(event, body);
    own.set(key, row.body);
    if (!isBeforeHorizon(event, known.horizons.get(event.router))) return undefined;
    return { status: "refused", reason: "unknown" };
  });
  if (!receipts.some((receipt) => receipt?.status === "refused")) return receipts;
  return receipts.map((one) => (one?.status === "refused" ? one : { status: "withheld" }));
}

function keyOf({ decision, ballot }: Pick<Row, "decision" | "ballot">): string {
  return JSON.stringify([decision, ballot]);
}

/** Bodies of the votes that have used the ballots of some rows. */
function* usedBallots(rows: readonly Row[]): Work<Map<string, string>> {
  const ballots = rows.flatMap(({ decision, ballot }) =>
    decision === null ? [] : sql`(${decision}, ${ballot})`,
  );
  if (ballots.length === 0) return new Map();
  const found = yield* rowsOf<Pick<Row, "decision" | "ballot" | "body">>(sql`
    SELECT decision, ballot, body FROM log
    WHERE kind = 'voted' AND (decision, ballot) IN (VALUES ${joined(ballots, ", ")})`);
  return new Map(found.map((row) => [keyOf(row), row.body]));
}

/**
 * The number of votes on the decisions of some rows, without comments. Counting stops at the number after which
 * votes weigh nothing, because anybody may send many votes on one decision.
 */
function* voteCounts(rows: readonly Row[]): Work<Map<string, number>> {
  const decisions = new Set(rows.flatMap(({ decision }) => decision ?? []));
  if (decisions.size === 0) return new Map();
  const values = [...decisions].map((decision) => sql`(${decision})`);
  const found = yield* rowsOf<{ decision: string; votes: number }>(sql`
    WITH d (decision) AS (VALUES ${joined(values, ", ")})
    SELECT decision, (
      SELECT count(*) FROM (
        SELECT 1 FROM log WHERE kind = 'voted' AND log.decision = d.decision
          AND ballot NOT LIKE ${`${COMMENT_PREFIX}%`} LIMIT ${VOTES_PER_DECISION}) AS counted) AS votes
    FROM d`);
  return new Map(found.map(({ decision, votes }) => [decision, votes]));
}

/** Time of the snapshot at the horizon, for the routers that have one. */
function* horizonTimes(rows: readonly Row[]): Work<Map<string, number>> {
  const routers = [...new Set(rows.map(({ router }) => router))];
  const found = yield* rowsOf<{ router: string; at: number }>(sql`
    SELECT router, s.at FROM horizons h JOIN snapshots s USING (router, position)
    WHERE router IN (${joined(routers, ", ")})`);
  return new Map(found.map(({ router, at }) => [router, at]));
}
