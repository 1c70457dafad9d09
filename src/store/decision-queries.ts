import type { Decision } from "./decision.ts";
import { DAY_MS, timeOfId } from "./decision-id.ts";
import { answerOf, decisionOf, type ReadAnswerRow, type ReadDecisionRow } from "./decision-row.ts";
import { LogQueries, type Select } from "./queries.ts";
import { joined, literal, type Statement, sql } from "./sql.ts";
import type {
  Cursor,
  DecisionRecord,
  PageQuery,
  RoutedQuery,
  SearchQuery,
  TallyQuery,
} from "./store.ts";
import { StoreUnavailable } from "./store-error.ts";
import { addCounts, COUNTS, type Counts, type Tally } from "./tally.ts";

/** The decisions of each day (UTC), in days since 1970. */
export interface Days {
  /** Days that have decisions, oldest first. */
  list(): Promise<number[]>;
  /** Reads the tables of one day. A day that was dropped in between has no rows. */
  of(day: number): DayTables;
  /** Days of a period whose counts are in their own tables instead of those of the main database. */
  withCounts(from: number, to: number): Promise<number[]>;
  /** Drops the days that ended before a time. Returns the number of decisions. */
  drop(before: number): Promise<number>;
  /** True while decisions of an older version are being moved into their days. */
  isMoving: boolean;
}

/** The tables of a day. PostgreSQL has subqueries here, so a statement must give each an alias: "FROM ${decisions} d". */
export interface DayTables {
  readonly select: Select;
  readonly decisions: Statement;
  readonly answers: Statement;
}

/** Columns of a decision without its embedding and its prompt. */
export const COLUMNS = literal("id, router, at, owner, session, body");
const COLUMNS_WITH_X = literal("id, router, at, owner, session, body, x");

/** PostgreSQL sums integers to `numeric`, which the driver would return as text. */
const SUMS = literal(
  COUNTS.map((name) => `CAST(sum(${name}) AS double precision) AS ${name}`).join(", "),
);

/** The reading half of a store, the same for both databases. Pages of decisions are read day by day. */
export class Queries extends LogQueries {
  protected readonly days: Days;

  constructor(select: Select, days: Days) {
    super(select);
    this.days = days;
  }

  async routed({ router, after, since = 0, limit }: RoutedQuery): Promise<Decision[]> {
    const from = Math.max(since, after?.at ?? 0);
    const found: Decision[] = [];
    for (const day of await this.days.list()) {
      if (found.length >= limit) break;
      if ((day + 1) * DAY_MS <= from) continue;
      const { select, decisions } = this.days.of(day);
      const conditions = [sql`router = ${router}`, sql`at >= ${since}`];
      if (after) conditions.push(sql`(at, id) > (${after.at}, ${after.id})`);
      const rows = await select<ReadDecisionRow>(sql`
        SELECT ${COLUMNS_WITH_X} FROM ${decisions} d WHERE ${joined(conditions, " AND ")}
        ORDER BY at, id LIMIT ${limit - found.length}`);
      for (const row of rows) found.push(decisionOf(row) as Decision);
    }
    return found;
  }

  async decisions(query: PageQuery): Promise<DecisionRecord[]> {
    const { before, since = 0, limit, withX = false } = query;
    const conditions = decisionConditions(query, before);
    const columns = withX ? COLUMNS_WITH_X : COLUMNS;
    const found: DecisionRecord[] = [];
    for (const day of (await this.days.list()).toReversed()) {
      if (found.length >= limit) break;
      if (before && day * DAY_MS > before.at) continue;
      if ((day + 1) * DAY_MS <= since) break;
      const { select, decisions } = this.days.of(day);
      const rows = await select<ReadDecisionRow>(sql`
        SELECT ${columns} FROM ${decisions} d WHERE ${joined(conditions, " AND ")}
        ORDER BY at DESC, id DESC LIMIT ${limit - found.length}`);
      found.push(...(await this.withAnswersAndVotes(day, rows)));
    }
    return found;
  }

  async decision(id: string): Promise<DecisionRecord | undefined> {
    for (const day of await this.#daysOf(id)) {
      const { select, decisions } = this.days.of(day);
      const rows = await select<ReadDecisionRow>(sql`
        SELECT ${COLUMNS_WITH_X} FROM ${decisions} d WHERE id = ${id}`);
      const [record] = await this.withAnswersAndVotes(day, rows);
      if (record) return record;
    }
    if (this.days.isMoving && timeOfId(id) === undefined) {
      throw new StoreUnavailable("decisions of an older version are still being moved");
    }
    return undefined;
  }

  async timeOfNewest(router: string, count: number): Promise<number> {
    let left = count;
    for (const day of (await this.days.list()).toReversed()) {
      const { select, decisions } = this.days.of(day);
      const [row] = await select<{ at: number }>(sql`
        SELECT at FROM ${decisions} d WHERE router = ${router}
        ORDER BY at DESC LIMIT 1 OFFSET ${left - 1}`);
      if (row) return row.at;
      const [total] = await select<{ count: number }>(sql`
        SELECT count(*) AS count FROM ${decisions} d WHERE router = ${router}`);
      left -= total?.count ?? 0;
    }
    return 0;
  }

  async prompt(decision: string): Promise<Uint8Array | undefined> {
    for (const day of await this.#daysOf(decision)) {
      const { select, decisions } = this.days.of(day);
      const [row] = await select<{ prompt: Uint8Array | null }>(sql`
        SELECT prompt FROM ${decisions} d WHERE id = ${decision}`);
      if (row) return row.prompt ?? undefined;
    }
    return undefined;
  }

  /** The day of an id, if it exists; all days for ids of older versions, which do not contain a time. */
  async #daysOf(id: string): Promise<number[]> {
    const days = await this.days.list();
    const time = timeOfId(id);
    return time === undefined
      ? days.toReversed()
      : days.filter((day) => day === Math.floor(time / DAY_MS));
  }

  /** Adds answers and votes to rows of a day. */
  protected async withAnswersAndVotes(
    day: number,
    rows: readonly ReadDecisionRow[],
  ): Promise<DecisionRecord[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const { select, answers: table } = this.days.of(day);
    const [answers, votes] = await Promise.all([
      select<ReadAnswerRow>(sql`
        SELECT decision, slot, router, at, owner, body FROM ${table} a
        WHERE decision IN (${joined(ids, ", ")}) ORDER BY decision, slot`),
      this.votesOn(ids),
    ]);
    const answersOf = Map.groupBy(answers, ({ decision }) => decision);
    const votesOf = Map.groupBy(votes, ({ decision }) => decision);
    return rows.map((row) => ({
      decision: decisionOf(row),
      answers: (answersOf.get(row.id) ?? []).map(answerOf),
      votes: votesOf.get(row.id) ?? [],
    }));
  }

  async tallies({ router, from, to, step }: TallyQuery): Promise<Tally[]> {
    const length = sql`CAST(${step} AS bigint)`;
    const statement = sql`
      SELECT (bucket / ${length}) * ${length} AS start, model, ${SUMS} FROM tallies
      WHERE router = ${router} AND bucket >= ${from} AND bucket < ${to}
      GROUP BY start, model`;
    const sums = new Map<string, Tally>();
    const [first, last] = [Math.floor(from / DAY_MS), Math.floor(to / DAY_MS)];
    const rows = await this.#counted<{ start: number; model: string } & Counts>(
      statement,
      first,
      last,
    );
    for (const { start: bucket, model, ...counts } of rows) {
      const key = `${bucket} ${model}`;
      const sum = sums.get(key);
      const all = sum ? addCounts(sum.counts, counts) : counts;
      sums.set(key, { router, bucket, model, counts: all });
    }
    return [...sums.values()].sort((a, b) => a.bucket - b.bucket || (a.model < b.model ? -1 : 1));
  }

  async spent(owner: string, month: string): Promise<number> {
    const start = Math.floor(Date.parse(`${month}-01T00:00:00Z`) / DAY_MS);
    const statement = sql`
      SELECT coalesce(sum(cost), 0) AS cost FROM spending
      WHERE owner = ${owner} AND month = ${month}`;
    const rows = await this.#counted<{ cost: number }>(statement, start, start + 31);
    return rows.reduce((sum, { cost }) => sum + cost, 0);
  }

  /** Reads the counts of a period from the main database and from the days that have their own. */
  async #counted<T>(statement: Statement, first: number, last: number): Promise<T[]> {
    // An answer counts at its end, which may be on the day after its decision.
    const days = await this.days.withCounts(first - 1, last);
    const rows = await this.select<T>(statement);
    for (const day of days) rows.push(...(await this.days.of(day).select<T>(statement)));
    // The counts of a day that another process has dropped since may have been read twice, or not at all.
    const left = await this.days.withCounts(first - 1, last);
    return days.every((day) => left.includes(day)) ? rows : this.#counted(statement, first, last);
  }
}

/** Conditions on the decisions of a page that starts after a place. */
export function decisionConditions(
  { router, owner, session, since = 0, until }: Omit<SearchQuery, "limit">,
  before: Cursor | undefined,
): Statement[] {
  const conditions = [sql`at >= ${since}`];
  if (until !== undefined) conditions.push(sql`at <= ${until}`);
  if (router !== undefined) conditions.push(sql`router = ${router}`);
  if (owner !== undefined) conditions.push(sql`owner = ${owner}`);
  if (session !== undefined) conditions.push(sql`session = ${session}`);
  if (before) conditions.push(sql`(at, id) < (${before.at}, ${before.id})`);
  return conditions;
}
