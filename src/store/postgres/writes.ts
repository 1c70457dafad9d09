/** Statements that write everything except the log: leases, snapshots, keys, secrets and pruning. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { noSnapshot } from "../prune.ts";
import type { PruneQuery, PruneReport, StoredKey, StoredSnapshot } from "../store.ts";
import { LeaseLost } from "../store-error.ts";
import { snapshotsToDelete } from "../thin-snapshots.ts";
import { notify } from "./append.ts";
import { transaction, unavailable } from "./connect.ts";

/** The clock of the database in milliseconds. All nodes use it, because their own clocks differ. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Takes the lease if it has expired or `steal` is set. The new token makes saves of the previous holder fail. */
export async function acquireLease(
  pool: pg.Pool,
  router: string,
  holder: string,
  milliseconds: number,
  steal: boolean,
): Promise<number | undefined> {
  const { rows } = await query<{ token: number }>(
    pool,
    `INSERT INTO leases AS old (router, holder, token, until) VALUES ($1, $2, 1, ${NOW} + $3)
     ON CONFLICT (router) DO UPDATE
     SET holder = excluded.holder, token = old.token + 1, until = excluded.until
     WHERE old.until < ${NOW} OR $4
     RETURNING token`,
    [router, holder, milliseconds, steal],
  );
  return rows[0]?.token;
}

/** Renews a lease, even an expired one as long as nobody else has taken it. */
export async function renewLease(
  pool: pg.Pool,
  router: string,
  token: number,
  milliseconds: number,
): Promise<boolean> {
  const { rowCount } = await query(
    pool,
    `UPDATE leases SET until = ${NOW} + $3 WHERE router = $1 AND token = $2`,
    [router, token, milliseconds],
  );
  return rowCount === 1;
}

export async function saveSnapshot(
  pool: pg.Pool,
  snapshot: StoredSnapshot,
  token: number,
): Promise<void> {
  const { router, position, at, hash, state } = snapshot;
  await transaction(pool, "", async (client) => {
    // The row lock prevents another node from taking the lease before the commit.
    const lease = await client.query<{ token: number }>(
      "SELECT token FROM leases WHERE router = $1 FOR UPDATE",
      [router],
    );
    if (lease.rows[0]?.token !== token) throw new LeaseLost(router);
    await client.query(
      `INSERT INTO snapshots (router, position, at, hash, state) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (router, position) DO UPDATE
       SET at = excluded.at, hash = excluded.hash, state = excluded.state`,
      [router, position, at, hash, Buffer.from(state)],
    );
    const { rows } = await client.query<{ position: number; at: number; horizon: number | null }>(
      `SELECT s.position, s.at, h.position AS horizon
       FROM snapshots s LEFT JOIN horizons h USING (router) WHERE s.router = $1`,
      [router],
    );
    await client.query("DELETE FROM snapshots WHERE router = $1 AND position = ANY ($2)", [
      router,
      snapshotsToDelete(rows, at, rows[0]!.horizon ?? 0),
    ]);
    await notify(client, { router, what: "snapshot", position });
  });
}

/** Deletes at most `limit` rows of each kind. */
export async function pruneStep(
  pool: pg.Pool,
  { prompts, decisions, votes }: PruneQuery,
  limit: number,
): Promise<PruneReport> {
  return transaction(pool, "", async (client) => ({
    prompts: prompts === undefined ? 0 : await prunePrompts(client, prompts, limit),
    decisions: decisions === undefined ? 0 : await pruneDecisions(client, decisions, limit),
    votes: votes === undefined ? 0 : await pruneVotes(client, votes, limit),
  }));
}

async function prunePrompts(client: pg.PoolClient, before: number, limit: number): Promise<number> {
  const { rowCount } = await client.query(
    "DELETE FROM prompts WHERE decision IN (SELECT decision FROM prompts WHERE at < $1 LIMIT $2)",
    [before, limit],
  );
  return rowCount ?? 0;
}

/** Deletes the oldest decisions of each router that were logged before a time. */
async function pruneDecisions(
  client: pg.PoolClient,
  before: number,
  limit: number,
): Promise<number> {
  const { rows } = await client.query<{ decision: string }>(
    `SELECT old.decision
     FROM (SELECT DISTINCT router FROM log WHERE kind NOT IN ('routed', 'answered', 'voted')) r,
     LATERAL (SELECT decision, at FROM log WHERE kind = 'routed' AND router = r.router
              ORDER BY position LIMIT $2) old
     WHERE old.at < $1`,
    [before, limit],
  );
  await removeDecisions(
    client,
    rows.map(({ decision }) => decision),
  );
  return rows.length;
}

/** Deletes decisions together with their prompts and answers. */
async function removeDecisions(client: pg.PoolClient, decisions: readonly string[]): Promise<void> {
  if (decisions.length === 0) return;
  await client.query("DELETE FROM prompts WHERE decision = ANY ($1)", [decisions]);
  await client.query("DELETE FROM log WHERE kind = 'answered' AND decision = ANY ($1)", [
    decisions,
  ]);
  await client.query("DELETE FROM log WHERE kind = 'routed' AND decision = ANY ($1)", [decisions]);
}

/** Deletes votes together with their decisions: if a decision stayed, the same vote could be cast again. */
async function pruneVotes(
  client: pg.PoolClient,
  { router, upTo }: { readonly router: string; readonly upTo: number },
  limit: number,
): Promise<number> {
  // The row lock prevents `saveSnapshot` from deleting this snapshot before the commit.
  const kept = await client.query(
    "SELECT 1 FROM snapshots WHERE router = $1 AND position = $2 FOR UPDATE",
    [router, upTo],
  );
  if (kept.rowCount === 0) throw noSnapshot(router, upTo);
  await client.query(
    `INSERT INTO horizons AS old (router, position) VALUES ($1, $2)
     ON CONFLICT (router) DO UPDATE SET position = greatest(old.position, excluded.position)`,
    [router, upTo],
  );
  const { rows } = await client.query<{ position: number; decision: string }>(
    `SELECT position, decision FROM log
     WHERE kind NOT IN ('routed', 'answered') AND kind = 'voted' AND router = $1 AND position <= $2
     ORDER BY position LIMIT $3`,
    [router, upTo, limit],
  );
  await removeDecisions(
    client,
    rows.map(({ decision }) => decision),
  );
  await client.query("DELETE FROM log WHERE position = ANY ($1)", [
    rows.map(({ position }) => position),
  ]);
  return rows.length;
}

export async function saveKey(pool: pg.Pool, key: StoredKey): Promise<void> {
  await query(
    pool,
    "INSERT INTO keys (id, body) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
    [key.id, JSON.stringify(key)],
  );
}

export async function secret(pool: pg.Pool, name: string): Promise<Uint8Array> {
  await query(pool, "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
    name,
    randomBytes(32),
  ]);
  const { rows } = await query<{ value: Uint8Array }>(
    pool,
    "SELECT value FROM secrets WHERE name = $1",
    [name],
  );
  return rows[0]!.value;
}

async function query<R extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<R>> {
  try {
    return await pool.query<R>(text, [...values]);
  } catch (error) {
    throw unavailable(error);
  }
}
