/** Statements that write everything except votes and decisions: leases, snapshots, keys, secrets and pruning. */
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
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
import type { Connection } from "./connect.ts";

/** Takes the lease if it expires before `free`. The new token makes saves of the previous holder fail. */
export function acquireLease(
  db: Connection,
  router: string,
  holder: string,
  until: number,
  free: number,
): number | undefined {
  return db
    .prepare<[string, string, number, number], number>(`
      INSERT INTO leases AS old (router, holder, token, until) VALUES (?, ?, 1, ?)
      ON CONFLICT DO UPDATE
      SET holder = excluded.holder, token = old.token + 1, until = excluded.until
      WHERE old.until < ?
      RETURNING token`)
    .pluck()
    .get(router, holder, until, free);
}

/**
 * Updates the node's account and grants what the budget allows. `logged` is the cost of
 * the answers of all nodes in the log.
 */
export function leaseBudget(
  db: Connection,
  { owner, month, node, budget, spent, held, want }: BudgetRequest,
  logged: number,
  now: number,
  until: number,
): BudgetGrant {
  const lease = db.transaction(() => {
    const save = db.prepare(`
      INSERT INTO budget_leases (owner, month, node, held, spent, until) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET held = excluded.held, until = excluded.until,
        spent = max(spent, excluded.spent)`);
    save.run(owner, month, node, held, spent, until);
    const sums = db
      .prepare<[number, string, string], { held: number; spent: number }>(`
        SELECT total(held) FILTER (WHERE until >= ?) AS held, total(spent) AS spent
        FROM budget_leases WHERE owner = ? AND month = ?`)
      .get(now, owner, month)!;
    const grant = budgetGrant(budget, want, { ...sums, logged });
    if (grant.granted > 0) save.run(owner, month, node, held + grant.granted, spent, until);
    return grant;
  });
  return lease.immediate();
}

export function renewLease(db: Connection, router: string, token: number, until: number): boolean {
  const renewed = db
    .prepare("UPDATE leases SET until = ? WHERE router = ? AND token = ?")
    .run(until, router, token);
  return renewed.changes === 1;
}

export function saveSnapshot(db: Connection, snapshot: StoredSnapshot, token: number): void {
  const { router, position, at, hash, state } = snapshot;
  const save = db.transaction(() => {
    const holder = db
      .prepare<[string], number>("SELECT token FROM leases WHERE router = ?")
      .pluck()
      .get(router);
    if (holder !== token) throw new LeaseLost(router);
    const isForgotten = db
      .prepare(`
        SELECT 1 FROM log WHERE kind <> 'voted' AND kind = 'voter_forgotten' AND router = ?
        AND position > ?`)
      .get(router, position);
    // The posterior was learned from votes that have been erased since.
    if (isForgotten) return;
    db.prepare(`
      INSERT OR REPLACE INTO snapshots (router, position, at, hash, state, checksum)
      VALUES (?, ?, ?, ?, ?, ?)`).run(router, position, at, hash, state, crc32(state));
    const all = db
      .prepare<[string], { position: number; at: number }>(
        "SELECT position, at FROM snapshots WHERE router = ?",
      )
      .all(router);
    const remove = db.prepare("DELETE FROM snapshots WHERE router = ? AND position = ?");
    for (const old of snapshotsToDelete(all, at, horizon(db, router))) remove.run(router, old);
  });
  save.immediate();
}

function horizon(db: Connection, router: string): number {
  const statement = db.prepare<[string], number>("SELECT position FROM horizons WHERE router = ?");
  return statement.pluck().get(router) ?? 0;
}

/** Deletes at most `limit` votes up to the snapshot at `upTo`, which becomes the horizon. */
export function pruneVotes(db: Connection, router: string, upTo: number, limit: number): number {
  const prune = db.transaction(() => {
    const kept = db
      .prepare("SELECT 1 FROM snapshots WHERE router = ? AND position = ?")
      .get(router, upTo);
    if (!kept) throw noSnapshot(router, upTo);
    db.prepare(`
      INSERT INTO horizons (router, position) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET position = max(position, excluded.position)`).run(router, upTo);
    const remove = db.prepare(`
      DELETE FROM log WHERE position IN (
        SELECT position FROM log WHERE kind = 'voted' AND router = ? AND position <= ?
        ORDER BY position LIMIT ?)`);
    return remove.run(router, upTo, limit).changes;
  });
  return prune.immediate();
}

/** Returns the pages of deleted rows to the file system. */
export function shrink(db: Connection): void {
  db.pragma("incremental_vacuum");
  // Old content also stays in the write-ahead log until it is truncated.
  db.pragma("wal_checkpoint(truncate)");
}

export function saveEmbedding(
  db: Connection,
  decision: string,
  x: Uint8Array,
  until: number,
  now: number,
): void {
  const save = db.transaction(() => {
    db.prepare("DELETE FROM embeddings WHERE until < ?").run(now);
    db.prepare(
      "INSERT INTO embeddings (decision, until, x) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ).run(decision, until, x);
  });
  save.immediate();
}

export function saveResponses(
  db: Connection,
  responses: readonly StoredResponse[],
  now: number,
): void {
  const save = db.transaction(() => {
    db.prepare("DELETE FROM responses WHERE until < ?").run(now);
    const insert = db.prepare(
      `INSERT INTO responses (id, owner, until, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET until = excluded.until, body = excluded.body
       WHERE responses.owner = excluded.owner`,
    );
    for (const { id, owner, until, body } of responses) insert.run(id, owner, until, body);
  });
  save.immediate();
}

export function deleteResponse(db: Connection, id: string): void {
  db.prepare("DELETE FROM responses WHERE id = ?").run(id);
}

export function claimIds(db: Connection, claims: readonly ClientId[], now: number): boolean[] {
  const claim = db.transaction(() => {
    db.prepare("DELETE FROM client_ids WHERE until < ?").run(now);
    const insert = db.prepare(
      "INSERT INTO client_ids (owner, id, decision, until) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    const named = db
      .prepare<[string, string], string>(
        "SELECT decision FROM client_ids WHERE owner = ? AND id = ?",
      )
      .pluck();
    return claims.map(({ owner, id, decision, until }) => {
      insert.run(owner, id, decision, until);
      return named.get(owner, id) === decision;
    });
  });
  return claim.immediate();
}

export function releaseId(db: Connection, { owner, id, decision }: Omit<ClientId, "until">): void {
  db.prepare("DELETE FROM client_ids WHERE owner = ? AND id = ? AND decision = ?").run(
    owner,
    id,
    decision,
  );
}

export function addKey(db: Connection, key: StoredKey): boolean {
  const add = db.transaction(() => {
    const bodies = db.prepare<[], string>("SELECT body FROM keys").pluck().all();
    if (isNameTaken(key, bodies.map(keyOf))) return false;
    db.prepare("INSERT INTO keys (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
      key.id,
      JSON.stringify(key),
    );
    return true;
  });
  return add.immediate();
}

export function changeKey(db: Connection, id: string, changes: KeyChanges): ChangedKey | undefined {
  const change = db.transaction(() => {
    const find = db.prepare<[string], string>("SELECT body FROM keys WHERE id = ?").pluck();
    const body = find.get(id);
    const before = body === undefined ? undefined : keyOf(body);
    if (!before || before.revokedAt !== undefined) return undefined;
    const after = withChanges(before, changes);
    db.prepare("UPDATE keys SET body = ? WHERE id = ?").run(JSON.stringify(after), id);
    return { before, after };
  });
  return change.immediate();
}

function keyOf(body: string): StoredKey {
  return JSON.parse(body) as StoredKey;
}

export function secret(db: Connection, name: string): Uint8Array {
  db.prepare("INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
    name,
    randomBytes(32),
  );
  return db
    .prepare<[string], Uint8Array>("SELECT value FROM secrets WHERE name = ?")
    .pluck()
    .get(name)!;
}

export function deleteSecret(db: Connection, name: string): void {
  db.prepare("DELETE FROM secrets WHERE name = ?").run(name);
}
