import type pg from "pg";
import { type AnswerRow, answerRow, type DecisionRow, decisionRow } from "../decision-row.ts";
import type { DecisionEvent } from "../events.ts";
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
    await transaction(pool, ASYNCHRONOUS, async (client) => {
      const ids = await insertDecisions(client, rows[0]);
      const slots = await insertAnswers(client, rows[1]);
      const stored = [
        ...decisions.filter(({ id }) => ids.delete(id)),
        ...answers.filter(({ decision, slot }) => slots.delete(`${decision} ${slot}`)),
      ];
      await perform(client, count([...stored, ...countedOnly], shard));
    });
  };
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
export async function insertDecisions(
  client: pg.PoolClient,
  rows: readonly DecisionRow[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const { rows: inserted } = await client.query<{ id: string }>(
    `INSERT INTO decisions (day, id, router, at, owner, session, x, prompt, body)
     SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::bigint[], $5::text[],
                          $6::text[], $7::bytea[], $8::bytea[], $9::text[])
     ON CONFLICT DO NOTHING RETURNING id`,
    [
      rows.map(({ day }) => day),
      rows.map(({ id }) => id),
      rows.map(({ router }) => router),
      rows.map(({ at }) => at),
      rows.map(({ owner }) => owner),
      rows.map(({ session }) => session),
      rows.map(({ x }) => Buffer.from(x)),
      rows.map(({ prompt }) => prompt && Buffer.from(prompt)),
      rows.map(({ body }) => body),
    ],
  );
  return new Set(inserted.map(({ id }) => id));
}

/** Inserts answers and returns "DECISION SLOT" of those that are new. */
export async function insertAnswers(
  client: pg.PoolClient,
  rows: readonly AnswerRow[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const { rows: inserted } = await client.query<{ decision: string; slot: number }>(
    `INSERT INTO answers (day, decision, slot, router, at, owner, body, model, outcome, cost,
                          latency_ms)
     SELECT * FROM unnest($1::integer[], $2::text[], $3::integer[], $4::text[], $5::bigint[],
                          $6::text[], $7::text[], $8::text[], $9::text[], $10::double precision[],
                          $11::double precision[])
     ON CONFLICT DO NOTHING RETURNING decision, slot`,
    [
      rows.map(({ day }) => day),
      rows.map(({ decision }) => decision),
      rows.map(({ slot }) => slot),
      rows.map(({ router }) => router),
      rows.map(({ at }) => at),
      rows.map(({ owner }) => owner),
      rows.map(({ body }) => body),
      rows.map(({ searched }) => searched.model),
      rows.map(({ searched }) => searched.outcome),
      rows.map(({ searched }) => searched.cost),
      rows.map(({ searched }) => searched.latency_ms),
    ],
  );
  return new Set(inserted.map(({ decision, slot }) => `${decision} ${slot}`));
}
