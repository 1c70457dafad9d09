/** Statements that write everything except votes and decisions: leases, snapshots, keys, secrets and pruning. */
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type pg from "pg";
import { budgetGrant } from "../budget.ts";
import {
  type ChangedKey,
  isNameTaken,
  type KeyChanges,
  type StoredKey,
  withChanges,
} from "../key.ts";
import { noSnapshot } from "../prune.ts";
import type {
  BudgetGrant,
  BudgetRequest,
  ClientId,
  StoredResponse,
  StoredSnapshot,
} from "../store.ts";
import { LeaseLost } from "../store-error.ts";
import { snapshotsToDelete } from "../thin-snapshots.ts";
import { notify } from "./append.ts";
import { KEYS_LOCK, transaction, unavailable } from "./connect.ts";

/** The clock of the database in milliseconds. All nodes use it, because their own clocks differ. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

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

/**
 * Updates the node's account and grants what the budget allows. `logged` is the cost of
 * the answers of all nodes in the log.
 */
export async function leaseBudget(
  pool: pg.Pool,
  request: BudgetRequest,
  logged: number,
): Promise<BudgetGrant> {
  const { owner, month, node, budget, spent, held, want, milliseconds } = request;
  return transaction(pool, "", async (client) => {
    // Nodes take turns for one key, so that no two of them get the same dollars.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 7))", [owner]);
    const save = (amount: number) =>
      client.query(
        `INSERT INTO budget_leases AS old (owner, month, node, held, spent, until)
         VALUES ($1, $2, $3, $4, $5, ${NOW} + $6)
         ON CONFLICT (owner, month, node) DO UPDATE
         SET held = excluded.held, until = excluded.until,
             spent = greatest(old.spent, excluded.spent)`,
        [owner, month, node, amount, spent, milliseconds],
      );
    await save(held);
    const { rows } = await client.query<{ held: number; spent: number }>(
      `SELECT coalesce(sum(held) FILTER (WHERE until >= ${NOW}), 0) AS held,
              coalesce(sum(spent), 0) AS spent
       FROM budget_leases WHERE owner = $1 AND month = $2`,
      [owner, month],
    );
    const grant = budgetGrant(budget, want, { ...rows[0]!, logged });
    if (grant.granted > 0) await save(held + grant.granted);
    return grant;
  });
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
    const forgotten = await client.query(
      `SELECT 1 FROM log WHERE kind <> 'voted' AND kind = 'voter_forgotten' AND router = $1
       AND position > $2`,
      [router, position],
    );
    // The posterior was learned from votes that have been erased since.
    if (forgotten.rowCount! > 0) return;
    await client.query(
      `INSERT INTO snapshots (router, position, at, hash, state, checksum)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (router, position) DO UPDATE
       SET at = excluded.at, hash = excluded.hash, state = excluded.state,
           checksum = excluded.checksum`,
      [router, position, at, hash, Buffer.from(state), crc32(state)],
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

/** Deletes at most `limit` votes up to the snapshot at `upTo`, which becomes the horizon. */
export async function pruneVotes(
  pool: pg.Pool,
  router: string,
  upTo: number,
  limit: number,
): Promise<number> {
  return transaction(pool, "", async (client) => {
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
    const { rowCount } = await client.query(
      `DELETE FROM log WHERE position IN (
         SELECT position FROM log WHERE kind = 'voted' AND router = $1 AND position <= $2
         ORDER BY position LIMIT $3)`,
      [router, upTo, limit],
    );
    return rowCount ?? 0;
  });
}

export async function saveEmbedding(
  pool: pg.Pool,
  decision: string,
  x: Uint8Array,
  until: number,
): Promise<void> {
  await transaction(pool, "", async (client) => {
    await client.query(`DELETE FROM embeddings WHERE until < ${NOW}`);
    await client.query(
      "INSERT INTO embeddings (decision, until, x) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [decision, until, Buffer.from(x)],
    );
  });
}

export async function saveResponses(
  pool: pg.Pool,
  responses: readonly StoredResponse[],
): Promise<void> {
  // All nodes insert in the same order, so that two transactions cannot wait for each other.
  const sorted = responses.toSorted((a, b) => compare(a.id, b.id));
  await transaction(pool, "", async (client) => {
    await client.query(`DELETE FROM responses WHERE until < ${NOW}`);
    for (const { id, owner, until, body } of sorted) {
      await client.query(
        `INSERT INTO responses (id, owner, until, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET until = excluded.until, body = excluded.body
         WHERE responses.owner = excluded.owner`,
        [id, owner, until, Buffer.from(body)],
      );
    }
  });
}

export async function deleteResponse(pool: pg.Pool, id: string): Promise<void> {
  await query(pool, "DELETE FROM responses WHERE id = $1", [id]);
}

export async function claimIds(pool: pg.Pool, claims: readonly ClientId[]): Promise<boolean[]> {
  // All nodes insert in the same order, so that two transactions cannot wait for each other.
  const sorted = claims.toSorted((a, b) => compare(a.owner, b.owner) || compare(a.id, b.id));
  const column = (name: keyof ClientId) => sorted.map((claim) => claim[name]);
  return transaction(pool, "", async (client) => {
    await client.query(`DELETE FROM client_ids WHERE until < ${NOW}`);
    await client.query(
      `INSERT INTO client_ids (owner, id, decision, until)
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
       ON CONFLICT DO NOTHING`,
      [column("owner"), column("id"), column("decision"), column("until")],
    );
    const { rows } = await client.query<Pick<ClientId, "owner" | "id" | "decision">>(
      `SELECT owner, id, decision FROM client_ids
       WHERE (owner, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [column("owner"), column("id")],
    );
    const named = new Map(rows.map(({ owner, id, decision }) => [`${owner}\n${id}`, decision]));
    return claims.map(({ owner, id, decision }) => named.get(`${owner}\n${id}`) === decision);
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export async function releaseId(
  pool: pg.Pool,
  { owner, id, decision }: Omit<ClientId, "until">,
): Promise<void> {
  await query(pool, "DELETE FROM client_ids WHERE owner = $1 AND id = $2 AND decision = $3", [
    owner,
    id,
    decision,
  ]);
}

export async function addKey(pool: pg.Pool, key: StoredKey): Promise<boolean> {
  return transaction(pool, KEYS_LOCK, async (client) => {
    const { rows } = await client.query<{ body: string }>("SELECT body FROM keys");
    if (isNameTaken(key, rows.map(keyOf))) return false;
    await client.query("INSERT INTO keys (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
      key.id,
      JSON.stringify(key),
    ]);
    return true;
  });
}

export async function changeKey(
  pool: pg.Pool,
  id: string,
  changes: KeyChanges,
): Promise<ChangedKey | undefined> {
  return transaction(pool, KEYS_LOCK, async (client) => {
    const find = "SELECT body FROM keys WHERE id = $1";
    const { rows } = await client.query<{ body: string }>(find, [id]);
    const [before] = rows.map(keyOf);
    if (!before || before.revokedAt !== undefined) return undefined;
    const after = withChanges(before, changes);
    await client.query("UPDATE keys SET body = $2 WHERE id = $1", [id, JSON.stringify(after)]);
    return { before, after };
  });
}

function keyOf({ body }: { readonly body: string }): StoredKey {
  return JSON.parse(body) as StoredKey;
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

export async function deleteSecret(pool: pg.Pool, name: string): Promise<void> {
  await query(pool, "DELETE FROM secrets WHERE name = $1", [name]);
}

export async function query<R extends pg.QueryResultRow>(
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
