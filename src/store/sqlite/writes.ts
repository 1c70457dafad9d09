/** Statements that write everything except the log: leases, snapshots, keys, secrets and pruning. */
import { randomBytes } from "node:crypto";
import { noSnapshot } from "../prune.ts";
import type { PruneQuery, PruneReport, StoredKey, StoredSnapshot } from "../store.ts";
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
    db.prepare(
      "INSERT OR REPLACE INTO snapshots (router, position, at, hash, state) VALUES (?, ?, ?, ?, ?)",
    ).run(router, position, at, hash, state);
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

/** Deletes at most `limit` rows of each kind. */
export function pruneStep(db: Connection, what: PruneQuery, limit: number): PruneReport {
  const step = db.transaction(() => ({
    prompts: what.prompts === undefined ? 0 : prunePrompts(db, what.prompts, limit),
    decisions: what.decisions === undefined ? 0 : pruneDecisions(db, what.decisions, limit),
    votes: what.votes === undefined ? 0 : pruneVotes(db, what.votes, limit),
  }));
  return step.immediate();
}

function prunePrompts(db: Connection, before: number, limit: number): number {
  return db
    .prepare(
      "DELETE FROM prompts WHERE decision IN (SELECT decision FROM prompts WHERE at < ? LIMIT ?)",
    )
    .run(before, limit).changes;
}

/** Deletes the oldest decisions of each router that were logged before a time. */
function pruneDecisions(db: Connection, before: number, limit: number): number {
  const routers = db
    .prepare<[], string>(
      "SELECT DISTINCT router FROM log WHERE kind NOT IN ('routed', 'answered', 'voted')",
    )
    .pluck()
    .all();
  const oldest = db.prepare<[string, number], { at: number; decision: string }>(
    "SELECT at, decision FROM log WHERE kind = 'routed' AND router = ? ORDER BY position LIMIT ?",
  );
  let count = 0;
  for (const router of routers) {
    const rows = oldest.all(router, limit).filter(({ at }) => at < before);
    removeDecisions(
      db,
      rows.map(({ decision }) => decision),
    );
    count += rows.length;
  }
  return count;
}

/** Deletes decisions together with their prompts and answers. */
function removeDecisions(db: Connection, decisions: readonly string[]): void {
  const statements = [
    "DELETE FROM prompts WHERE decision = ?",
    "DELETE FROM log WHERE kind = 'answered' AND decision = ?",
    "DELETE FROM log WHERE kind = 'routed' AND decision = ?",
  ].map((text) => db.prepare(text));
  for (const decision of decisions) for (const statement of statements) statement.run(decision);
}

/** Deletes votes together with their decisions: if a decision stayed, the same vote could be cast again. */
function pruneVotes(
  db: Connection,
  { router, upTo }: { readonly router: string; readonly upTo: number },
  limit: number,
): number {
  const kept = db
    .prepare("SELECT 1 FROM snapshots WHERE router = ? AND position = ?")
    .get(router, upTo);
  if (!kept) throw noSnapshot(router, upTo);
  db.prepare(`
    INSERT INTO horizons (router, position) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET position = max(position, excluded.position)`).run(router, upTo);
  const rows = db
    .prepare<[string, number, number], { position: number; decision: string }>(`
      SELECT position, decision FROM log
      WHERE kind NOT IN ('routed', 'answered') AND kind = 'voted' AND router = ? AND position <= ?
      ORDER BY position LIMIT ?`)
    .all(router, upTo, limit);
  removeDecisions(
    db,
    rows.map(({ decision }) => decision),
  );
  const remove = db.prepare("DELETE FROM log WHERE position = ?");
  for (const { position } of rows) remove.run(position);
  return rows.length;
}

export function saveKey(db: Connection, key: StoredKey): void {
  db.prepare("INSERT OR REPLACE INTO keys (id, body) VALUES (?, ?)").run(
    key.id,
    JSON.stringify(key),
  );
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
