import { DAY_MS, idsFrom } from "./decision-id.ts";
import { COLUMNS, type DayTables, decisionConditions, Queries } from "./decision-queries.ts";
import type { ReadDecisionRow } from "./decision-row.ts";
import { isHidden } from "./hidden.ts";
import { unseal } from "./seal.ts";
import { joined, literal, type Statement, sql } from "./sql.ts";
import type { Cursor, DecisionRecord, SearchQuery, SearchResult, VoteFilter } from "./store.ts";

/**
 * Searches requests, newest first, day by day. If some condition has few matches on a day, its index
 * gives them. Otherwise the requests of the day are examined in the order of time, and a search that
 * has examined `MOST_EXAMINED` of them ends with the place where the next one continues. So the cost
 * of a search does not grow with the number of requests.
 */
export abstract class SearchQueries extends Queries {
  async search(query: SearchQuery): Promise<SearchResult> {
    const { since = 0, until = Number.MAX_SAFE_INTEGER, limit } = query;
    const found: DecisionRecord[] = [];
    let { before } = query;
    let left = MOST_EXAMINED;
    for (const day of (await this.days.list()).toReversed()) {
      if (day * DAY_MS > Math.min(until, before?.at ?? until)) continue;
      if ((day + 1) * DAY_MS <= since) break;
      const few = await this.#fewMatches(day, query);
      if (few?.length === 0) continue;
      for (;;) {
        const step = few
          ? await this.#select(day, query, before, few)
          : await this.#step(day, query, before, left);
        left -= step.examined;
        // Answers and votes are read only of the rows that may become results.
        const rows = isFilteredLater(query) ? step.rows : step.rows.slice(0, limit - found.length);
        for (const record of await this.#filter(day, rows, query)) {
          found.push(record);
          if (found.length === limit) return { records: found, next: placeOf(record) };
        }
        if (step.end === undefined) break;
        before = step.end;
        if (left <= 0) return { records: found, next: before };
      }
    }
    return { records: found };
  }

  /**
   * Ids of the decisions of a day that fulfil the rarest condition, if those are few. Undefined if
   * every condition has many matches.
   */
  async #fewMatches(day: number, query: SearchQuery): Promise<string[] | undefined> {
    const { vote, exceptHidden } = query;
    const isVoteWanted = vote !== undefined && vote !== "none";
    const voted = isVoteWanted || exceptHidden ? await this.#votedOn(day) : undefined;
    let rarest = isVoteWanted ? voted : undefined;
    // Duels that are not hidden have a vote. If there are many votes, many of these duels may match.
    if (exceptHidden && !voted) return rarest;
    for (const condition of answerConditions(query)) {
      const matches = await this.#answersWith(day, condition, exceptHidden);
      if (exceptHidden) matches.push(...voted!);
      if (matches.length < (rarest?.length ?? FEW)) rarest = matches;
    }
    return rarest && [...new Set(rarest)];
  }

  /** Decisions of a day with an answer that fulfils a condition, without those of duels if `exceptDuels`. */
  async #answersWith(day: number, condition: Statement, exceptDuels = false): Promise<string[]> {
    const { select, answers } = this.days.of(day);
    // Only duels have a second answer.
    const single = sql`NOT EXISTS (SELECT 1 FROM ${answers} b WHERE b.decision = a.decision AND b.slot = 1)`;
    const conditions = exceptDuels ? [condition, single] : [condition];
    const rows = await select<{ decision: string }>(sql`
      SELECT decision FROM ${answers} a WHERE ${joined(conditions, " AND ")} LIMIT ${FEW}`);
    return rows.map(({ decision }) => decision);
  }

  /**
   * Decisions of a day that were voted on. Undefined if they are many, or if ids of an older version do not contain the
   * day.
   */
  async #votedOn(day: number): Promise<string[] | undefined> {
    const [from, to] = [idsFrom(day * DAY_MS), idsFrom((day + 1) * DAY_MS)];
    const { select, decisions } = this.days.of(day);
    const others = await select(sql`
      SELECT 1 FROM ${decisions} d WHERE id < ${from} OR id >= ${to} LIMIT 1`);
    if (others.length > 0) return undefined;
    const rows = await this.select<{ decision: string }>(sql`
      SELECT decision FROM log WHERE kind = 'voted' AND decision >= ${from} AND decision < ${to}
      LIMIT ${FEW}`);
    return rows.length < FEW ? rows.map(({ decision }) => decision) : undefined;
  }

  /**
   * The next requests of a day in the order of time, as far as they fulfil the conditions. `left` is the number of
   * requests that the search may still examine.
   */
  async #step(
    day: number,
    query: SearchQuery,
    before: Cursor | undefined,
    left: number,
  ): Promise<Step> {
    const { select, decisions } = this.days.of(day);
    const conditions = decisionConditions(query, before);
    const isFiltered = answerConditions(query).length + Number(isFilteredLater(query)) > 0;
    const most = left === MOST_EXAMINED ? FIRST_STEP * query.limit : left;
    const size = isFiltered ? Math.min(STEP, most) : query.limit;
    const places = await select<Cursor>(sql`
      SELECT at, id FROM ${decisions} d WHERE ${joined(conditions, " AND ")}
      ORDER BY at DESC, id DESC LIMIT ${size}`);
    const edge = places[size - 1];
    if (places.length === 0) return { rows: [], examined: 0, end: undefined };
    const within = edge ? [...conditions, sql`(at, id) >= (${edge.at}, ${edge.id})`] : conditions;
    const rows = await selectMatches(this.days.of(day), query, within);
    return { rows, examined: places.length, end: edge };
  }

  /** All of these decisions that fulfil the conditions, newest first. */
  async #select(
    day: number,
    query: SearchQuery,
    before: Cursor | undefined,
    ids: readonly string[],
  ): Promise<Step> {
    const conditions = [...decisionConditions(query, before), sql`id IN (${joined(ids, ", ")})`];
    const rows = await selectMatches(this.days.of(day), query, conditions);
    return { rows, examined: ids.length, end: undefined };
  }

  /** Adds answers and votes, and checks the conditions on them and on the prompt. */
  async #filter(
    day: number,
    rows: readonly ReadDecisionRow[],
    { vote, text, exceptHidden }: SearchQuery,
  ): Promise<DecisionRecord[]> {
    const texts = text === undefined ? undefined : await this.#prompts(day, rows);
    const wanted = text?.toLowerCase() ?? "";
    const matching = texts ? rows.filter(({ id }) => texts.get(id)?.includes(wanted)) : rows;
    const records = await this.withAnswersAndVotes(day, matching);
    return records.filter(
      (record) =>
        !(exceptHidden && isHidden(record)) &&
        (vote === undefined || isVotedAs(record.votes, vote)),
    );
  }

  /** Prompts that are stored in the clear, in lower case. */
  async #prompts(day: number, rows: readonly ReadDecisionRow[]): Promise<Map<string, string>> {
    if (rows.length === 0) return new Map();
    const { select, decisions } = this.days.of(day);
    const found = await select<{ id: string; prompt: Uint8Array | null }>(sql`
      SELECT id, prompt FROM ${decisions} d WHERE id IN (${joined(
        rows.map(({ id }) => id),
        ", ",
      )})`);
    return new Map(
      found.flatMap(({ id, prompt }): [string, string][] => {
        const text = prompt && unseal(prompt, id, undefined);
        return text ? [[id, text.toLowerCase()]] : [];
      }),
    );
  }
}

/**
 * Largest number of requests that one search examines, and number of requests that it reads at a
 * time.
 */
const MOST_EXAMINED = 10_000;
const STEP = 1000;
/** Requests that are read first per result: a condition that every fifth one fulfils needs no more. */
const FIRST_STEP = 5;
/** Number of matches on a day from which a condition counts as frequent. */
const FEW = 1000;

interface Step {
  readonly rows: readonly ReadDecisionRow[];
  /** Number of requests that were examined. */
  readonly examined: number;
  /** The oldest of them; undefined at the end of the day. */
  readonly end: Cursor | undefined;
}

async function selectMatches(
  { select, decisions, answers }: DayTables,
  query: SearchQuery,
  conditions: readonly Statement[],
): Promise<ReadDecisionRow[]> {
  const ofAnswer = answerConditions(query);
  const all =
    ofAnswer.length === 0
      ? conditions
      : [
          ...conditions,
          sql`EXISTS (SELECT 1 FROM ${answers} a WHERE a.decision = d.id AND ${joined(ofAnswer, " AND ")})`,
        ];
  return select<ReadDecisionRow>(sql`
    SELECT ${COLUMNS} FROM ${decisions} d WHERE ${joined(all, " AND ")} ORDER BY at DESC, id DESC`);
}

/** Conditions on one answer of the request. */
function answerConditions(query: SearchQuery): Statement[] {
  const { model, outcome, minCost, maxCost, minLatencyMs, maxLatencyMs } = query;
  const conditions: Statement[] = [];
  if (model !== undefined) conditions.push(sql`model = ${model}`);
  if (outcome === "ok") conditions.push(literal("outcome IS NULL"));
  else if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (minCost !== undefined) conditions.push(sql`cost >= ${minCost}`);
  if (maxCost !== undefined) conditions.push(sql`cost <= ${maxCost}`);
  if (minLatencyMs !== undefined) conditions.push(sql`latency_ms >= ${minLatencyMs}`);
  if (maxLatencyMs !== undefined) conditions.push(sql`latency_ms <= ${maxLatencyMs}`);
  return conditions;
}

/** Whether conditions are checked after the rows were read. */
function isFilteredLater({ vote, text, exceptHidden = false }: SearchQuery): boolean {
  return vote !== undefined || text !== undefined || exceptHidden;
}

function isVotedAs(votes: DecisionRecord["votes"], filter: VoteFilter): boolean {
  const kinds = votes.map(({ verdict }): VoteFilter => {
    if ("outcome" in verdict) return VERDICTS[verdict.outcome];
    if ("rating" in verdict) return verdict.rating < 0 ? "bad" : "good";
    return "comment" in verdict ? "comment" : "any";
  });
  if (filter === "none") return kinds.length === 0;
  return filter === "any" ? kinds.length > 0 : kinds.includes(filter);
}

const VERDICTS = { a: "first", b: "second", tie: "tie", both_bad: "both_bad" } as const;

function placeOf({ decision: { at, id } }: DecisionRecord): Cursor {
  return { at, id };
}
