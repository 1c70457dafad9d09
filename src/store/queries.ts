import type { Decision } from "./decision.ts";
import type { Answered, Control, Event, Learning, Logged, Voted } from "./events.ts";
import { eventOf, type LoggedRow } from "./row.ts";
import { joined, literal, type Statement, sql } from "./sql.ts";
import type { DecisionRecord, PageQuery, StoredKey, StoredSnapshot, TallyQuery } from "./store.ts";
import { COUNTS, type Counts, type Tally } from "./tally.ts";

/** Runs a statement and returns its rows. */
export type Select = <T>(statement: Statement) => Promise<T[]>;

// These conditions repeat those of the partial indexes word for word: otherwise SQLite does not use the index.
const ROUTED = literal("kind = 'routed'");
const LEARNING = literal("kind NOT IN ('routed', 'answered')");
const CONTROLS = literal("kind NOT IN ('routed', 'answered', 'voted')");

/** All columns of the log except the embedding. */
const WITHOUT_X = literal(
  "position, router, kind, at, decision, slot, voter, owner, session, body",
);

/** PostgreSQL sums integers to `numeric`, which the driver would return as text. */
const SUMS = literal(
  COUNTS.map((name) => `CAST(sum(${name}) AS double precision) AS ${name}`).join(", "),
);

type PositionRow = Pick<LoggedRow, "position">;
type RowWithoutX = Omit<LoggedRow, "x">;

/** The reading half of a store, the same for both databases. Each method runs one statement. */
export class Queries {
  readonly #select: Select;

  constructor(select: Select) {
    this.#select = select;
  }

  async learning(router: string, after: number, limit: number): Promise<Logged<Learning>[]> {
    const rows = await this.#select<LoggedRow>(sql`
      SELECT * FROM log WHERE ${LEARNING} AND router = ${router} AND position > ${after}
      ORDER BY position LIMIT ${limit}`);
    return rows.map(eventOf<Learning>);
  }

  async controls(router: string): Promise<Logged<Control>[]> {
    const rows = await this.#select<LoggedRow>(sql`
      SELECT * FROM log WHERE ${CONTROLS} AND router = ${router} ORDER BY position`);
    return rows.map(eventOf<Control>);
  }

  async head(router: string): Promise<number> {
    const [row] = await this.#select<PositionRow>(sql`
      SELECT position FROM log WHERE ${LEARNING} AND router = ${router}
      ORDER BY position DESC LIMIT 1`);
    return row?.position ?? 0;
  }

  async positionAt(router: string, time: number): Promise<number> {
    // Ordered by time, because the clocks of the nodes differ slightly from the order of the log.
    const [row] = await this.#select<PositionRow>(sql`
      SELECT position FROM log WHERE ${LEARNING} AND router = ${router} AND at <= ${time}
      ORDER BY at DESC, position DESC LIMIT 1`);
    return row?.position ?? 0;
  }

  async votesOf(router: string, voter: string): Promise<number> {
    const [row] = await this.#select<{ count: number }>(sql`
      SELECT count(*) AS count FROM log
      WHERE ${LEARNING} AND kind = 'voted' AND router = ${router} AND voter = ${voter}`);
    return row!.count;
  }

  async routers(): Promise<string[]> {
    const rows = await this.#select<{ router: string }>(sql`
      SELECT DISTINCT router FROM log WHERE ${CONTROLS} ORDER BY router`);
    return rows.map(({ router }) => router);
  }

  async routed(router: string, after: number, limit: number): Promise<Logged<Decision>[]> {
    const rows = await this.#select<LoggedRow>(sql`
      SELECT * FROM log WHERE ${ROUTED} AND router = ${router} AND position > ${after}
      ORDER BY position LIMIT ${limit}`);
    return rows.map(eventOf<Decision>);
  }

  async decisions({ router, owner, session, before, limit }: PageQuery): Promise<DecisionRecord[]> {
    const conditions = [ROUTED];
    if (router !== undefined) conditions.push(sql`router = ${router}`);
    if (owner !== undefined) conditions.push(sql`owner = ${owner}`);
    if (session !== undefined) conditions.push(sql`session = ${session}`);
    if (before !== undefined) conditions.push(sql`position < ${before}`);
    const rows = await this.#select<RowWithoutX>(sql`
      SELECT ${WITHOUT_X} FROM log WHERE ${joined(conditions, " AND ")}
      ORDER BY position DESC LIMIT ${limit}`);
    return this.#withAnswersAndVotes(rows);
  }

  async decision(id: string): Promise<DecisionRecord | undefined> {
    const rows = await this.#select<RowWithoutX>(sql`
      SELECT ${WITHOUT_X} FROM log WHERE ${ROUTED} AND decision = ${id}`);
    return (await this.#withAnswersAndVotes(rows))[0];
  }

  async #withAnswersAndVotes(rows: readonly RowWithoutX[]): Promise<DecisionRecord[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ decision }) => decision!);
    const [answers, votes] = await Promise.all([
      this.#ofDecisions("answered", ids),
      this.#ofDecisions("voted", ids),
    ]);
    const read = <E extends Pick<Event, "kind">>(row: RowWithoutX) =>
      eventOf<E>({ ...row, x: null });
    const answersOf = Map.groupBy(answers, ({ decision }) => decision);
    const votesOf = Map.groupBy(votes, ({ decision }) => decision);
    return rows.map((row) => ({
      decision: read<Omit<Decision, "x">>(row),
      answers: (answersOf.get(row.decision) ?? []).map(read<Answered>),
      votes: (votesOf.get(row.decision) ?? []).map(read<Omit<Voted, "x">>),
    }));
  }

  #ofDecisions(kind: "answered" | "voted", ids: readonly string[]): Promise<RowWithoutX[]> {
    return this.#select<RowWithoutX>(sql`
      SELECT ${WITHOUT_X} FROM log
      WHERE kind = ${literal(`'${kind}'`)} AND decision IN (${joined(ids, ", ")})
      ORDER BY position`);
  }

  async prompt(decision: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#select<{ sealed: Uint8Array }>(sql`
      SELECT sealed FROM prompts WHERE decision = ${decision}`);
    return row?.sealed;
  }

  async tallies({ router, from, to, step }: TallyQuery): Promise<Tally[]> {
    const length = sql`CAST(${step} AS bigint)`;
    const rows = await this.#select<{ start: number; model: string } & Counts>(sql`
      SELECT (bucket / ${length}) * ${length} AS start, model, ${SUMS} FROM tallies
      WHERE router = ${router} AND bucket >= ${from} AND bucket < ${to}
      GROUP BY start, model ORDER BY start, model`);
    return rows.map(({ start: bucket, model, ...counts }) => ({ router, bucket, model, counts }));
  }

  async spent(owner: string, month: string): Promise<number> {
    const [row] = await this.#select<{ cost: number }>(sql`
      SELECT cost FROM spending WHERE owner = ${owner} AND month = ${month}`);
    return row?.cost ?? 0;
  }

  async snapshot(
    router: string,
    atMost: number = Number.MAX_SAFE_INTEGER,
  ): Promise<StoredSnapshot | undefined> {
    const [row] = await this.#select<StoredSnapshot>(sql`
      SELECT * FROM snapshots WHERE router = ${router} AND position <= ${atMost}
      ORDER BY position DESC LIMIT 1`);
    return row;
  }

  async snapshotPositions(router: string): Promise<number[]> {
    const rows = await this.#select<PositionRow>(sql`
      SELECT position FROM snapshots WHERE router = ${router} ORDER BY position`);
    return rows.map(({ position }) => position);
  }

  async horizon(router: string): Promise<number> {
    const [row] = await this.#select<PositionRow>(sql`
      SELECT position FROM horizons WHERE router = ${router}`);
    return row?.position ?? 0;
  }

  async keys(): Promise<StoredKey[]> {
    const rows = await this.#select<{ body: string }>(sql`SELECT body FROM keys ORDER BY id`);
    return rows.map(({ body }) => JSON.parse(body) as StoredKey);
  }
}
