/** Statements that write configurations, the audit log, sessions and nodes. */
import type pg from "pg";
import {
  type AuditRecord,
  NODE_LIFETIME_MS,
  type StoredConfiguration,
  type StoredNode,
} from "../administration.ts";
import { notify } from "./append.ts";
import { transaction } from "./connect.ts";
import { NOW, query } from "./writes.ts";

/** Saves a configuration if its revision follows the newest one. Returns false otherwise. */
export function saveConfiguration(
  pool: pg.Pool,
  { revision, at, document, sealed }: StoredConfiguration,
  record: AuditRecord,
): Promise<boolean> {
  return transaction(pool, "", async (client) => {
    // Another node that saves the same revision waits here, and then gets no row.
    const { rowCount } = await client.query(
      `INSERT INTO configurations (revision, at, document, sealed)
       SELECT $1, $2, $3, $4
       WHERE (SELECT coalesce(max(revision), 0) FROM configurations) = $1::bigint - 1
       ON CONFLICT DO NOTHING`,
      [revision, at, document, Buffer.from(sealed)],
    );
    if (rowCount !== 1) return false;
    await insertAudit(client, record);
    await notify(client, { router: "", what: "configuration", position: revision });
    return true;
  });
}

export async function saveAudit(pool: pg.Pool, record: AuditRecord): Promise<void> {
  await transaction(pool, "", (client) => insertAudit(client, record));
}

async function insertAudit(client: pg.PoolClient, record: AuditRecord): Promise<void> {
  const text = JSON.stringify(record);
  await client.query("INSERT INTO audit (id, body) VALUES ($1, $2)", [record.id, text]);
}

export async function endSession(pool: pg.Pool, id: string, until: number): Promise<void> {
  await transaction(pool, "", async (client) => {
    await client.query(`DELETE FROM ended_sessions WHERE until < ${NOW}`);
    await client.query(
      "INSERT INTO ended_sessions (id, until) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      [id, until],
    );
  });
}

export async function saveNode(pool: pg.Pool, node: Omit<StoredNode, "seen">): Promise<void> {
  await transaction(pool, "", async (client) => {
    await client.query(`DELETE FROM nodes WHERE seen < ${NOW} - $1::bigint`, [NODE_LIFETIME_MS]);
    await client.query(
      `INSERT INTO nodes (id, seen, body) VALUES ($1, ${NOW}, $2)
       ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, body = excluded.body`,
      [node.id, JSON.stringify(node)],
    );
  });
}

export async function deleteNode(pool: pg.Pool, id: string): Promise<void> {
  await query(pool, "DELETE FROM nodes WHERE id = $1", [id]);
}
