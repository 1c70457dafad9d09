/** Statements that write configurations, the audit log, sessions and nodes. */
import {
  type AuditRecord,
  NODE_LIFETIME_MS,
  type StoredConfiguration,
  type StoredNode,
} from "../administration.ts";
import type { Connection } from "./connect.ts";

/** Saves a configuration if its revision follows the newest one. Returns false otherwise. */
export function saveConfiguration(
  db: Connection,
  { revision, at, document, sealed }: StoredConfiguration,
  record: AuditRecord,
): boolean {
  const save = db.transaction(() => {
    const newest = db
      .prepare<[], number>("SELECT coalesce(max(revision), 0) FROM configurations")
      .pluck()
      .get()!;
    if (newest !== revision - 1) return false;
    db.prepare(
      "INSERT INTO configurations (revision, at, document, sealed) VALUES (?, ?, ?, ?)",
    ).run(revision, at, document, sealed);
    saveAudit(db, record);
    return true;
  });
  return save.immediate();
}

export function saveAudit(db: Connection, record: AuditRecord): void {
  db.prepare("INSERT INTO audit (id, body) VALUES (?, ?)").run(record.id, JSON.stringify(record));
}

export function endSession(db: Connection, id: string, until: number, now: number): void {
  const save = db.transaction(() => {
    db.prepare("DELETE FROM ended_sessions WHERE until < ?").run(now);
    db.prepare("INSERT OR REPLACE INTO ended_sessions (id, until) VALUES (?, ?)").run(id, until);
  });
  save.immediate();
}

export function saveNode(db: Connection, node: Omit<StoredNode, "seen">, now: number): void {
  const save = db.transaction(() => {
    db.prepare("DELETE FROM nodes WHERE seen < ?").run(now - NODE_LIFETIME_MS);
    db.prepare("INSERT OR REPLACE INTO nodes (id, seen, body) VALUES (?, ?, ?)").run(
      node.id,
      now,
      JSON.stringify(node),
    );
  });
  save.immediate();
}

export function deleteNode(db: Connection, id: string): void {
  db.prepare("DELETE FROM nodes WHERE id = ?").run(id);
}
