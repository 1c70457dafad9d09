import type pg from "pg";
import { LEGACY_STEP, type LegacyRow, legacyQuery, movedAnswer, movedDecision } from "../legacy.ts";
import { LEGACY_LOCK, perform, transaction } from "./connect.ts";
import type { Partitions } from "./days.ts";
import { insertAnswers, insertDecisions } from "./record.ts";

/**
 * Moves some decisions of version 0.1 into the partitions of their days. Returns false when none
 * is left. The lock lets one node at a time do so; each step is one transaction.
 */
export async function moveLegacy(pool: pg.Pool, days: Partitions): Promise<boolean> {
  return transaction(pool, LEGACY_LOCK, async (client) => {
    const exists = await client.query("SELECT to_regclass('legacy_progress') AS found");
    if (exists.rows[0].found === null) return false;
    const { rows: progress } = await client.query<{ position: number }>(
      "SELECT position FROM legacy_progress",
    );
    const query = legacyQuery((n) => `$${n}`);
    const { rows } = await client.query<LegacyRow>(query, [progress[0]!.position, LEGACY_STEP]);
    if (rows.length === 0) {
      await client.query("DROP TABLE legacy_log, prompts, legacy_progress");
      return false;
    }
    const decisions = rows.filter(({ kind }) => kind === "routed").map(movedDecision);
    const answers = rows.filter(({ kind }) => kind === "answered").map(movedAnswer);
    await days.ensure(new Set([...decisions, ...answers].map(({ day }) => day)));
    await perform(client, insertDecisions(decisions));
    await perform(client, insertAnswers(answers));
    await client.query("UPDATE legacy_progress SET position = $1", [rows.at(-1)!.position]);
    return true;
  });
}
