/** What is read, one statement a function: the same on both databases. */
import { sql } from "kysely";
import type { Answered, Control, Event, Learning, Logged, Routed, Voted } from "./events.ts";
import { eventOf, type LoggedRow } from "./row.ts";
import type { DecisionRecord, PageQuery, StoredKey, StoredSnapshot, TallyQuery } from "./store.ts";
import type { Database } from "./tables.ts";
import { COUNTS, type Counts, type Tally } from "./tally.ts";

// Written as in the partial indexes: SQLite knows an index only by the same words.
const ROUTED = sql<boolean>`kind = 'routed'`;
const LEARNING = sql<boolean>`kind not in ('routed', 'answered')`;
const CONTROLS = sql<boolean>`kind not in ('routed', 'answered', 'voted')`;

export async function learning(
  db: Database,
  router: string,
  after: number,
  limit: number,
): Promise<Logged<Learning>[]> {
  const rows = await db
    .selectFrom("log")
    .selectAll()
    .where(LEARNING)
    .where("router", "=", router)
    .where("position", ">", after)
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(eventOf<Learning>);
}

export async function controls(db: Database, router: string): Promise<Logged<Control>[]> {
  const rows = await db
    .selectFrom("log")
    .selectAll()
    .where(CONTROLS)
    .where("router", "=", router)
    .orderBy("position")
    .execute();
  return rows.map(eventOf<Control>);
}

export async function head(db: Database, router: string): Promise<number> {
  const row = await db
    .selectFrom("log")
    .select("position")
    .where(LEARNING)
    .where("router", "=", router)
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? 0;
}

export async function positionAt(db: Database, router: string, time: number): Promise<number> {
  // By time, not by position: nodes' clocks differ by a little, so the two orders do too.
  const row = await db
    .selectFrom("log")
    .select(["position", "at"])
    .where(LEARNING)
    .where("router", "=", router)
    .where("at", "<=", time)
    .orderBy("at", "desc")
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? 0;
}

export async function votesOf(db: Database, router: string, voter: string): Promise<number> {
  const row = await db
    .selectFrom("log")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where(LEARNING)
    .where("kind", "=", sql.lit("voted"))
    .where("router", "=", router)
    .where("voter", "=", voter)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Those that were ever configured. */
export async function routers(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom("log")
    .select("router")
    .distinct()
    .where(CONTROLS)
    .orderBy("router")
    .execute();
  return rows.map(({ router }) => router);
}

export async function routed(
  db: Database,
  router: string,
  after: number,
  limit: number,
): Promise<Logged<Routed>[]> {
  const rows = await db
    .selectFrom("log")
    .selectAll()
    .where(ROUTED)
    .where("router", "=", router)
    .where("position", ">", after)
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(eventOf<Routed>);
}

export async function decisions(
  db: Database,
  { router, owner, session, before, limit }: PageQuery,
): Promise<DecisionRecord[]> {
  let query = db.selectFrom("log").select(WITHOUT_X).where(ROUTED);
  if (router !== undefined) query = query.where("router", "=", router);
  if (owner !== undefined) query = query.where("owner", "=", owner);
  if (session !== undefined) query = query.where("session", "=", session);
  if (before !== undefined) query = query.where("position", "<", before);
  const rows = await query.orderBy("position", "desc").limit(limit).execute();
  return withAnswersAndVotes(db, rows);
}

export async function decision(db: Database, id: string): Promise<DecisionRecord | undefined> {
  const rows = await db
    .selectFrom("log")
    .select(WITHOUT_X)
    .where(ROUTED)
    .where("decision", "=", id)
    .execute();
  return (await withAnswersAndVotes(db, rows))[0];
}

type Bare = Omit<LoggedRow, "x">;

const WITHOUT_X = [
  "position",
  "router",
  "kind",
  "at",
  "decision",
  "slot",
  "voter",
  "owner",
  "session",
  "body",
] as const;

async function withAnswersAndVotes(db: Database, rows: readonly Bare[]): Promise<DecisionRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ decision }) => decision);
  const of = (kind: "answered" | "voted") =>
    db
      .selectFrom("log")
      .select(WITHOUT_X)
      .where("kind", "=", sql.lit(kind))
      .where("decision", "in", ids)
      .orderBy("position")
      .execute();
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
  const row = await db
    .selectFrom("prompts")
    .select("sealed")
    .where("decision", "=", id)
    .executeTakeFirst();
  return row?.sealed;
}

export async function tallies(
  db: Database,
  { router, from, to, step }: TallyQuery,
): Promise<Tally[]> {
  const whole = sql<number>`cast(${step} as bigint)`;
  const bucket = sql<number>`(bucket / ${whole}) * ${whole}`;
  const rows = await db
    .selectFrom("tallies")
    .select([bucket.as("start"), "model"])
    .select(COUNTS.map((name) => sum(name).as(name)))
    .where("router", "=", router)
    .where("bucket", ">=", from)
    .where("bucket", "<", to)
    .groupBy(["start", "model"])
    .orderBy("start")
    .orderBy("model")
    .execute();
  return rows.map(({ start, model, ...counts }) => ({
    router,
    bucket: Number(start),
    model,
    counts: counts as Counts,
  }));
}

/** PostgreSQL sums whole numbers as numeric, which no double is. */
function sum(name: keyof Counts) {
  return sql<number>`cast(sum(${sql.ref(name)}) as double precision)`;
}

export async function spent(db: Database, owner: string, month: string): Promise<number> {
  const row = await db
    .selectFrom("spending")
    .select("cost")
    .where("owner", "=", owner)
    .where("month", "=", month)
    .executeTakeFirst();
  return row?.cost ?? 0;
}

export async function snapshot(
  db: Database,
  router: string,
  atMost?: number,
): Promise<StoredSnapshot | undefined> {
  let query = db.selectFrom("snapshots").selectAll().where("router", "=", router);
  if (atMost !== undefined) query = query.where("position", "<=", atMost);
  return query.orderBy("position", "desc").limit(1).executeTakeFirst();
}

export async function snapshotPositions(db: Database, router: string): Promise<number[]> {
  const rows = await db
    .selectFrom("snapshots")
    .select("position")
    .where("router", "=", router)
    .orderBy("position")
    .execute();
  return rows.map(({ position }) => position);
}

export async function horizon(db: Database, router: string): Promise<number> {
  const row = await db
    .selectFrom("horizons")
    .select("position")
    .where("router", "=", router)
    .executeTakeFirst();
  return row?.position ?? 0;
}

export async function keys(db: Database): Promise<StoredKey[]> {
  const rows = await db.selectFrom("keys").select("body").orderBy("id").execute();
  return rows.map(({ body }) => JSON.parse(body) as StoredKey);
}
