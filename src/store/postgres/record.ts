import type pg from "pg";
import {
  type AnswerRow,
  answerRow,
  type DecisionRow,
  decisionRow,
  type SearchedFields,
} from "../decision-row.ts";
import type { DecisionEvent } from "../events.ts";
import { rowsOf, sql, type Work } from "../sql.ts";
import { perform, transaction } from "./connect.ts";
import { count } from "./counts.ts";
import type { Partitions } from "./days.ts";

/**
 * Lets a commit return before it is on disk. If the server crashes, the last decisions
 * may be missing; votes on them still work, because their vote tokens contain what a vote
 * needs.
 */
const ASYNCHRONOUS = "SET LOCAL synchronous_commit = off";

/** Writes decisions and answers into the partitions of their days. Nodes do not wait for each other. */
export async function record(
  pool: pg.Pool,
  days: Partitions,
  events: readonly DecisionEvent[],
  countedOnly: readonly DecisionEvent[],
  shard: number,
): Promise<void> {
  const decisions = events.filter((event) => event.kind === "routed");
  const answers = events.filter((event) => event.kind === "answered");
  const rows = [decisions.map(decisionRow), answers.map(answerRow)] as const;
  const write = async () => {
    await days.ensure(new Set(rows.flat().map(({ day }) => day)));
    await transaction(pool, ASYNCHRONOUS, (client) => perform(client, insert()));
  };
  function* insert(): Work<void> {
    const ids = yield* insertDecisions(rows[0]);
    const slots = yield* insertAnswers(rows[1]);
    const stored = [
      ...decisions.filter(({ id }) => ids.delete(id)),
      ...answers.filter(({ decision, slot }) => slots.delete(`${decision} ${slot}`)),
    ];
    yield* count([...stored, ...countedOnly], shard);
  }
  await write().catch((error: unknown) => {
    if (!isMissingPartition(error)) throw error;
    days.recheck();
    return write();
  });
}

/** Whether an insert failed because another node has dropped the day of a row. */
function isMissingPartition(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23514";
}

/** Inserts decisions and returns the ids of those that are new. */
export function* insertDecisions(rows: readonly DecisionRow[]): Work<Set<string>> {
  if (rows.length === 0) return new Set();
  const column = (name: keyof DecisionRow) => rows.map((row) => row[name]);
  const inserted = yield* rowsOf<{ id: string }>(sql`
    INSERT INTO decisions (day, id, router, at, owner, session, x, prompt, body)
    SELECT * FROM unnest(${column("day")}::integer[], ${column("id")}::text[],
                         ${column("router")}::text[], ${column("at")}::bigint[],
                         ${column("owner")}::text[], ${column("session")}::text[],
                         ${column("x")}::bytea[], ${column("prompt")}::bytea[],
                         ${column("body")}::text[])
    ON CONFLICT DO NOTHING RETURNING id`);
  return new Set(inserted.map(({ id }) => id));
}

/** Inserts answers and returns "DECISION SLOT" of those that are new. */
export function* insertAnswers(rows: readonly AnswerRow[]): Work<Set<string>> {
  if (rows.length === 0) return new Set();
  const column = (name: keyof Omit<AnswerRow, "searched">) => rows.map((row) => row[name]);
  const searched = (name: keyof SearchedFields) => rows.map((row) => row.searched[name]);
  const inserted = yield* rowsOf<{ decision: string; slot: number }>(sql`
    INSERT INTO answers (day, decision, slot, router, at, owner, body, model, outcome, cost,
                         latency_ms)
    SELECT * FROM unnest(${column("day")}::integer[], ${column("decision")}::text[],
                         ${column("slot")}::integer[], ${column("router")}::text[],
                         ${column("at")}::bigint[], ${column("owner")}::text[],
                         ${column("body")}::text[], ${searched("model")}::text[],
                         ${searched("outcome")}::text[], ${searched("cost")}::double precision[],
                         ${searched("latency_ms")}::double precision[])
    ON CONFLICT DO NOTHING RETURNING decision, slot`);
  return new Set(inserted.map(({ decision, slot }) => `${decision} ${slot}`));
}
