/** What is read, one statement a function: the same on both databases. */
import type { Answered, Control, Event, Learning, Logged, Routed, Voted } from "./events.ts";
import { eventOf, type LoggedRow } from "./row.ts";
import { joined, type Statement, sql, words } from "./sql.ts";
import type { DecisionRecord, PageQuery, StoredKey, StoredSnapshot, TallyQuery } from "./store.ts";
import { COUNTS, type Counts, type Tally } from "./tally.ts";

/** Where statements are run. */
export interface Database {
  rows<T>(statement: Statement): Promise<T[]>;
}

// Written as in the partial indexes: SQLite knows an index only by the same words.
const ROUTED = words("kind = 'routed'");
const LEARNING = words("kind NOT IN ('routed', 'answered')");
const CONTROLS = words("kind NOT IN ('routed', 'answered', 'voted')");

export async function learning(
  db: Database,
  router: string,
  after: number,
  limit: number,
): Promise<Logged<Learning>[]> {
  const rows = await db.rows<LoggedRow>(sql`
    SELECT * FROM log WHERE ${LEARNING} AND router = ${router} AND position > ${after}
    ORDER BY position LIMIT ${limit}`);
  return rows.map(eventOf<Learning>);
}

export async function controls(db: Database, router: string): Promise<Logged<Control>[]> {
  const rows = await db.rows<LoggedRow>(sql`
    SELECT * FROM log WHERE ${CONTROLS} AND router = ${router} ORDER BY position`);
  return rows.map(eventOf<Control>);
}

export async function head(db: Database, router: string): Promise<number> {
  const [row] = await db.rows<Place>(sql`
    SELECT position FROM log WHERE ${LEARNING} AND router = ${router}
    ORDER BY position DESC LIMIT 1`);
  return row?.position ?? 0;
}

type Place = Pick<LoggedRow, "position">;

export async function positionAt(db: Database, router: string, time: number): Promise<number> {
  // By time, not by position: nodes' clocks differ by a little, so the two orders do too.
  const [row] = await db.rows<Place>(sql`
    SELECT position FROM log WHERE ${LEARNING} AND router = ${router} AND at <= ${time}
    ORDER BY at DESC, position DESC LIMIT 1`);
  return row?.position ?? 0;
}

export async function votesOf(db: Database, router: string, voter: string): Promise<number> {
  const [row] = await db.rows<{ count: number }>(sql`
    SELECT count(*) AS count FROM log
    WHERE ${LEARNING} AND kind = 'voted' AND router = ${router} AND voter = ${voter}`);
  return row!.count;
}

/** Those that were ever configured. */
export async function routers(db: Database): Promise<string[]> {
  const rows = await db.rows<{ router: string }>(sql`
    SELECT DISTINCT router FROM log WHERE ${CONTROLS} ORDER BY router`);
  return rows.map(({ router }) => router);
}

export async function routed(
  db: Database,
  router: string,
  after: number,
  limit: number,
): Promise<Logged<Routed>[]> {
  const rows = await db.rows<LoggedRow>(sql`
    SELECT * FROM log WHERE ${ROUTED} AND router = ${router} AND position > ${after}
    ORDER BY position LIMIT ${limit}`);
  return rows.map(eventOf<Routed>);
}

export async function decisions(
  db: Database,
  { router, owner, session, before, limit }: PageQuery,
): Promise<DecisionRecord[]> {
  const wanted = [ROUTED];
  if (router !== undefined) wanted.push(sql`router = ${router}`);
  if (owner !== undefined) wanted.push(sql`owner = ${owner}`);
  if (session !== undefined) wanted.push(sql`session = ${session}`);
  if (before !== undefined) wanted.push(sql`position < ${before}`);
  const rows = await db.rows<Bare>(sql`
    SELECT ${WITHOUT_X} FROM log WHERE ${joined(wanted, " AND ")}
    ORDER BY position DESC LIMIT ${limit}`);
  return withAnswersAndVotes(db, rows);
}

export async function decision(db: Database, id: string): Promise<DecisionRecord | undefined> {
  const rows = await db.rows<Bare>(sql`
    SELECT ${WITHOUT_X} FROM log WHERE ${ROUTED} AND decision = ${id}`);
  return (await withAnswersAndVotes(db, rows))[0];
}

type Bare = Omit<LoggedRow, "x">;

const WITHOUT_X = words("position, router, kind, at, decision, slot, voter, owner, session, body");

async function withAnswersAndVotes(db: Database, rows: readonly Bare[]): Promise<DecisionRecord[]> {
  if (rows.length === 0) return [];
  const ids = joined(
    rows.map(({ decision }) => decision!),
    ", ",
  );
  const of = (kind: "answered" | "voted") =>
    db.rows<Bare>(sql`
      SELECT ${WITHOUT_X} FROM log WHERE kind = ${words(`'${kind}'`)} AND decision IN (${ids})
      ORDER BY position`);
  const [answers, votes] = await Promise.all([of("answered"), of("voted")]);
  const read = <E extends Pick<Event, "kind">>(row: Bare) => eventOf<E>({ ...row, x: null });
  const answersOf = Map.groupBy(answers, ({ decision }) => decision);
  const votesOf = Map.groupBy(votes, ({ decision }) => decision);
  return rows.map((row) => ({
    routed: read<Omit<Routed, "x">>(row),
    answers: (answersOf.get(row.decision) ?? []).map(read<Answered>),
    votes: (votesOf.get(row.decision) ?? []).map(read<Omit<Voted, "x">>),
  }));
}

export async function prompt(db: Database, id: string): Promise<Uint8Array | undefined> {
  const [row] = await db.rows<{ sealed: Uint8Array }>(sql`
    SELECT sealed FROM prompts WHERE decision = ${id}`);
  return row?.sealed;
}

export async function tallies(
  db: Database,
  { router, from, to, step }: TallyQuery,
): Promise<Tally[]> {
  const whole = sql`CAST(${step} AS bigint)`;
  const rows = await db.rows<{ start: number; model: string } & Counts>(sql`
    SELECT (bucket / ${whole}) * ${whole} AS start, model, ${SUMS} FROM tallies
    WHERE router = ${router} AND bucket >= ${from} AND bucket < ${to}
    GROUP BY start, model ORDER BY start, model`);
  return rows.map(({ start: bucket, model, ...counts }) => ({ router, bucket, model, counts }));
}

/** PostgreSQL sums whole numbers as numeric, which no double is. */
const SUMS = words(
  COUNTS.map((name) => `CAST(sum(${name}) AS double precision) AS ${name}`).join(", "),
);

export async function spent(db: Database, owner: string, month: string): Promise<number> {
  const [row] = await db.rows<{ cost: number }>(sql`
    SELECT cost FROM spending WHERE owner = ${owner} AND month = ${month}`);
  return row?.cost ?? 0;
}

export async function snapshot(
  db: Database,
  router: string,
  atMost: number = Number.MAX_SAFE_INTEGER,
): Promise<StoredSnapshot | undefined> {
  const [row] = await db.rows<StoredSnapshot>(sql`
    SELECT * FROM snapshots WHERE router = ${router} AND position <= ${atMost}
    ORDER BY position DESC LIMIT 1`);
  return row;
}

export async function snapshotPositions(db: Database, router: string): Promise<number[]> {
  const rows = await db.rows<Place>(sql`
    SELECT position FROM snapshots WHERE router = ${router} ORDER BY position`);
  return rows.map(({ position }) => position);
}

export async function horizon(db: Database, router: string): Promise<number> {
  const [row] = await db.rows<Place>(sql`SELECT position FROM horizons WHERE router = ${router}`);
  return row?.position ?? 0;
}

export async function keys(db: Database): Promise<StoredKey[]> {
  const rows = await db.rows<{ body: string }>(sql`SELECT body FROM keys ORDER BY id`);
  return rows.map(({ body }) => JSON.parse(body) as StoredKey);
}
