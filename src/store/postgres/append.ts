import { crc32 } from "node:zlib";
import type pg from "pg";
import { isBeforeHorizon, receiptOfUsedBallot, withBoundedWeight } from "../ballot.ts";
import { AppendedChanges } from "../changes.ts";
import type { LogEvent, Voted } from "../events.ts";
import { COMMENT_PREFIX, eventOf, type LoggedRow, type Row, rowOf } from "../row.ts";
import type { Change, Receipt, SnapshotContent } from "../store.ts";
import { tally } from "../tally.ts";
import { APPEND_LOCK, transaction } from "./connect.ts";
import { addTallies, count } from "./counts.ts";

/**
 * Appends votes and controls in one transaction, under a lock that all nodes share. Without the
 * lock, a sequence assigns positions before the commit, and a reader that has seen position 8
 * would never read position 7, committed later: with three appenders it missed 9% of the rows.
 * docs/decisions/0003-log-order-and-lease.md compares the alternatives.
 */
export async function append(
  pool: pg.Pool,
  events: readonly LogEvent[],
  shard: number,
): Promise<Receipt[]> {
  if (events.length === 0) {
    // An empty append tests whether the database is available.
    await transaction(pool, "", async () => {});
    return [];
  }
  return transaction(pool, APPEND_LOCK, async (client) => {
    const rows = events.map(rowOf);
    const used = await usedBallots(client, rows);
    const votesOn = new Map<string, number>();
    for (const key of used.keys()) {
      const [decision, ballot] = JSON.parse(key) as [string, string];
      if (ballot.startsWith(COMMENT_PREFIX)) continue;
      votesOn.set(decision, (votesOn.get(decision) ?? 0) + 1);
    }
    const horizons = await horizonTimes(client, rows);
    const receipts: Receipt[] = new Array(events.length);
    const accepted: number[] = [];
    events.forEach((event, i) => {
      const row = rows[i]!;
      if (event.kind === "voted") {
        const body = used.get(keyOf(row));
        if (body !== undefined) receipts[i] = receiptOfUsedBallot(event, body);
        else if (isBeforeHorizon(event, horizons.get(event.router))) {
          receipts[i] = { status: "refused", reason: "unknown" };
        }
        if (receipts[i]) return;
        const others = votesOn.get(row.decision!) ?? 0;
        rows[i] = rowOf(withBoundedWeight(event, others));
        if (!("comment" in event.verdict)) votesOn.set(row.decision!, others + 1);
        used.set(keyOf(row), row.body);
      }
      accepted.push(i);
    });
    const positions = await insertRows(
      client,
      accepted.map((i) => rows[i]!),
    );
    const changes = new AppendedChanges();
    accepted.forEach((i, n) => {
      receipts[i] = { status: "logged", position: positions[n]! };
      changes.add(events[i]!.router, positions[n]!);
    });
    await count(
      client,
      accepted.map((i) => events[i]!),
      shard,
    );
    for (const change of changes.list()) await notify(client, change);
    return receipts;
  });
}

function keyOf({ decision, ballot }: Pick<Row, "decision" | "ballot">): string {
  return JSON.stringify([decision, ballot]);
}

/** Bodies of the votes that have used the ballots of some rows. */
async function usedBallots(
  client: pg.PoolClient,
  rows: readonly Row[],
): Promise<Map<string, string>> {
  const decisions = rows.flatMap(({ decision }) => (decision === null ? [] : [decision]));
  if (decisions.length === 0) return new Map();
  const { rows: found } = await client.query<Pick<Row, "decision" | "ballot" | "body">>(
    "SELECT decision, ballot, body FROM log WHERE kind = 'voted' AND decision = ANY ($1)",
    [decisions],
  );
  return new Map(found.map((row) => [keyOf(row), row.body]));
}

/** Time of the snapshot at the horizon, for the routers that have one. */
async function horizonTimes(
  client: pg.PoolClient,
  rows: readonly Row[],
): Promise<Map<string, number>> {
  const { rows: found } = await client.query<{ router: string; at: number }>(
    `SELECT router, s.at FROM horizons h JOIN snapshots s USING (router, position)
     WHERE router = ANY ($1)`,
    [[...new Set(rows.map(({ router }) => router))]],
  );
  return new Map(found.map(({ router, at }) => [router, at]));
}

/** Inserts rows and returns their positions, which increase in the order of the rows. */
async function insertRows(client: pg.PoolClient, rows: readonly Row[]): Promise<number[]> {
  if (rows.length === 0) return [];
  const column = <K extends keyof Row>(name: K) => rows.map((row) => row[name]);
  const { rows: inserted } = await client.query<Pick<LoggedRow, "position">>(
    `INSERT INTO log (router, kind, at, decision, ballot, voter, x, body)
     SELECT router, kind, at, decision, ballot, voter, x, body
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                 $7::bytea[], $8::text[]) WITH ORDINALITY
       AS t (router, kind, at, decision, ballot, voter, x, body, ordinal)
     ORDER BY ordinal
     RETURNING position`,
    [
      column("router"),
      column("kind"),
      column("at"),
      column("decision"),
      column("ballot"),
      column("voter"),
      column("x").map((x) => x && Buffer.from(x.buffer, x.byteOffset, x.byteLength)),
      column("body"),
    ],
  );
  return inserted.map(({ position }) => position).sort((a, b) => a - b);
}

/** Erases the votes and the weight of a voter, as `Store.forget` describes. */
export async function forget(
  pool: pg.Pool,
  router: string,
  voter: string,
  at: number,
  start: SnapshotContent | undefined,
  shard: number,
): Promise<number> {
  const { isErased, votes } = await transaction(pool, APPEND_LOCK, async (client) => {
    // `saveSnapshot` waits for this lock and then sees that a voter was forgotten.
    await client.query("SELECT 1 FROM leases WHERE router = $1 FOR UPDATE", [router]);
    const { rows } = await client.query<LoggedRow>(
      "DELETE FROM log WHERE kind = 'voted' AND router = $1 AND voter = $2 RETURNING *",
      [router, voter],
    );
    // The first condition makes PostgreSQL use the index of controls.
    const weighings = await client.query(
      "DELETE FROM log WHERE kind <> 'voted' AND kind = 'voter_weighed' AND router = $1 AND voter = $2",
      [router, voter],
    );
    if (rows.length === 0 && weighings.rowCount === 0 && !start)
      return { isErased: false, votes: 0 };
    const control = rowOf({ kind: "voter_forgotten", router, at, votes: rows.length });
    const [position] = await insertRows(client, [control]);
    await client.query(
      `DELETE FROM snapshots s WHERE router = $1
       AND position NOT IN (SELECT position FROM horizons h WHERE h.router = s.router)`,
      [router],
    );
    if (start) {
      await client.query(
        "UPDATE snapshots SET hash = $2, state = $3, checksum = $4 WHERE router = $1",
        [router, start.hash, Buffer.from(start.state), crc32(start.state)],
      );
    }
    await addTallies(client, tally(rows.map(eventOf<Voted>)), shard, -1);
    await notify(client, { router, what: "forgotten", position: position! });
    return { isErased: true, votes: rows.length };
  });
  // Removes the deleted rows from the files. If it fails, autovacuum does so later.
  if (isErased) await pool.query("VACUUM log, snapshots").catch(() => {});
  return votes;
}

/** Notifies all nodes of a change once the transaction is committed. */
export async function notify(client: pg.PoolClient, change: Change): Promise<void> {
  await client.query("SELECT pg_notify($1, $2)", [CHANNEL, JSON.stringify(change)]);
}

export const CHANNEL = "joust";
