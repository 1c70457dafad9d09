import type pg from "pg";
import { AppendedChanges } from "../changes.ts";
import type { Event } from "../events.ts";
import { type LoggedRow, type Row, rowOf } from "../row.ts";
import { type DecisionRows, settle } from "../settle.ts";
import type { Change, Entry, Receipt } from "../store.ts";
import { COUNTS, spending, type Tallied, tally } from "../tally.ts";
import { APPEND_LOCK, transaction } from "./connect.ts";

/**
 * Appends entries in one transaction, under a lock that all nodes share. Without the lock, a
 * sequence assigns positions before the commit, and a reader that has seen position 8 would never
 * read position 7, committed later: with three appenders it missed 9% of the rows.
 * docs/decisions/0003-log-order-and-lease.md compares the alternatives.
 */
export async function append(pool: pg.Pool, entries: readonly Entry[]): Promise<Receipt[]> {
  if (entries.length === 0) {
    // An empty append tests whether the database is available.
    await transaction(pool, "", async () => {});
    return [];
  }
  return transaction(pool, APPEND_LOCK, async (client) => {
    const receipts: Receipt[] = new Array(entries.length);
    const logged: Tallied[] = [];
    const changes = new AppendedChanges();

    const log = async (items: readonly Item[]) => {
      const positions = await insertRows(
        client,
        items.map(({ row }) => row),
      );
      for (const { i, row, event } of items) {
        // Each position is used once: of two equal rows in a batch, the first was logged.
        const position = positions.get(keyOf(row))?.shift()?.position;
        if (position === undefined) {
          receipts[i] = { status: "repeated" };
          continue;
        }
        receipts[i] = { status: "logged", position };
        logged.push(event);
        changes.add(row.router, row.kind, position);
      }
    };

    const events = entries.flatMap((entry, i) => (entry.kind === "vote" ? [] : [{ i, entry }]));
    await log(events.map(({ i, entry }) => ({ i, row: rowOf(entry), event: entry })));
    await insertPrompts(
      client,
      events.map(({ entry }) => entry),
    );

    // Votes come after the events because their decisions may be among them.
    const votes = entries.flatMap((entry, i) => (entry.kind === "vote" ? [{ i, entry }] : []));
    const ids = new Set(votes.map(({ entry }) => entry.decision));
    const decisions = await findDecisions(client, [...ids]);
    const accepted: Item[] = [];
    for (const { i, entry } of votes) {
      const rows = decisions.get(entry.decision)!;
      const settled = settle(entry, rows);
      if (settled.status !== "new") {
        receipts[i] = settled;
        continue;
      }
      accepted.push({ i, row: settled.row, event: settled.vote });
      rows.voted.push(settled.row);
    }
    await log(accepted);

    await addTallies(client, logged);
    await addSpending(client, logged);
    for (const change of changes.list()) await notify(client, change);
    return receipts;
  });
}

interface Item {
  readonly i: number;
  readonly row: Row;
  readonly event: Tallied;
}

/** The key of a row as the unique indexes define it. Controls have no unique index, so time and content identify them. */
function keyOf({ kind, decision, slot, voter, at, body }: Row): string {
  return decision === null
    ? JSON.stringify([kind, at, body])
    : JSON.stringify([kind, decision, slot, voter]);
}

/** Inserts rows and returns those that were new, by key. */
async function insertRows(
  client: pg.PoolClient,
  rows: readonly Row[],
): Promise<Map<string, LoggedRow[]>> {
  if (rows.length === 0) return new Map();
  const column = <K extends keyof Row>(name: K) => rows.map((row) => row[name]);
  const { rows: inserted } = await client.query<LoggedRow>(
    `INSERT INTO log (router, kind, at, decision, slot, voter, owner, session, x, body)
     SELECT router, kind, at, decision, slot, voter, owner, session, x, body
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[],
                 $7::text[], $8::text[], $9::bytea[], $10::text[]) WITH ORDINALITY
       AS t (router, kind, at, decision, slot, voter, owner, session, x, body, ordinal)
     ORDER BY ordinal
     ON CONFLICT DO NOTHING
     RETURNING position, kind, decision, slot, voter,
               CASE WHEN decision IS NULL THEN at END AS at,
               CASE WHEN decision IS NULL THEN body END AS body`,
    [
      column("router"),
      column("kind"),
      column("at"),
      column("decision"),
      column("slot"),
      column("voter"),
      column("owner"),
      column("session"),
      column("x").map((x) => x && Buffer.from(x.buffer, x.byteOffset, x.byteLength)),
      column("body"),
    ],
  );
  return Map.groupBy(inserted, keyOf);
}

async function insertPrompts(client: pg.PoolClient, events: readonly Event[]): Promise<void> {
  const prompts = events.flatMap((event) =>
    event.kind === "routed" && event.prompt ? [{ ...event, prompt: event.prompt }] : [],
  );
  if (prompts.length === 0) return;
  await client.query(
    `INSERT INTO prompts (decision, at, sealed)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[]) ON CONFLICT DO NOTHING`,
    [
      prompts.map(({ id }) => id),
      prompts.map(({ at }) => at),
      prompts.map(({ prompt }) => Buffer.from(prompt)),
    ],
  );
}

interface FoundRows extends DecisionRows {
  /** Votes of the log, to which `append` adds those of the same batch. */
  readonly voted: Row[];
}

/** Finds the rows of the decisions that are voted on. */
async function findDecisions(
  client: pg.PoolClient,
  decisions: readonly string[],
): Promise<Map<string, FoundRows>> {
  const rows = decisions.length === 0 ? [] : await selectDecisions(client, decisions);
  const byDecision = Map.groupBy(rows, ({ decision }) => decision);
  const found = decisions.map((id): [string, FoundRows] => {
    const {
      routed = [],
      answered = [],
      voted = [],
    } = Object.groupBy(
      byDecision.get(id) ?? [],
      ({ kind }) => kind as "routed" | "answered" | "voted",
    );
    return [id, { routed: routed[0], answered, voted }];
  });
  return new Map(found);
}

async function selectDecisions(
  client: pg.PoolClient,
  decisions: readonly string[],
): Promise<Row[]> {
  const { rows } = await client.query<Row>(
    `SELECT * FROM log WHERE kind = 'routed' AND decision = ANY ($1)
     UNION ALL SELECT * FROM log WHERE kind = 'answered' AND decision = ANY ($1)
     UNION ALL SELECT * FROM log WHERE kind = 'voted' AND decision = ANY ($1)`,
    [decisions],
  );
  return rows;
}

async function addTallies(client: pg.PoolClient, events: readonly Tallied[]): Promise<void> {
  const tallies = tally(events);
  if (tallies.length === 0) return;
  const columns = COUNTS.map((_, i) => `$${i + 4}::double precision[]`).join(", ");
  await client.query(
    `INSERT INTO tallies AS old (router, bucket, model, ${COUNTS.join(", ")})
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], ${columns})
     ON CONFLICT (router, bucket, model) DO UPDATE
     SET ${COUNTS.map((name) => `${name} = old.${name} + excluded.${name}`).join(", ")}`,
    [
      tallies.map(({ router }) => router),
      tallies.map(({ bucket }) => bucket),
      tallies.map(({ model }) => model),
      ...COUNTS.map((name) => tallies.map(({ counts }) => counts[name])),
    ],
  );
}

async function addSpending(client: pg.PoolClient, events: readonly Tallied[]): Promise<void> {
  const sums = spending(events);
  if (sums.length === 0) return;
  await client.query(
    `INSERT INTO spending AS old (owner, month, cost)
     SELECT * FROM unnest($1::text[], $2::text[], $3::double precision[])
     ON CONFLICT (owner, month) DO UPDATE SET cost = old.cost + excluded.cost`,
    [sums.map(({ owner }) => owner), sums.map(({ month }) => month), sums.map(({ cost }) => cost)],
  );
}

/** Notifies all nodes of a change once the transaction is committed. */
export async function notify(client: pg.PoolClient, change: Change): Promise<void> {
  await client.query("SELECT pg_notify($1, $2)", [CHANNEL, JSON.stringify(change)]);
}

export const CHANNEL = "joust";
