import { crc32 } from "node:zlib";
import type Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { checksumOf, type LoggedRow } from "../row.ts";
import { headFile, readHead } from "./head-file.ts";

type Connection = Sqlite.Database;

/** The error for a file that must not be used. */
export function damaged(file: string, problem: string, hint = RESTORE): InputError {
  return new InputError({ file }, problem, hint);
}

const RESTORE = 'restore a backup with "joust restore", or choose another folder with --data';

/**
 * Checks the structure of a file of the current schema. Damaged indexes are built again, because
 * the tables hold everything that they contain. Throws InputError if tables are damaged.
 */
export function checkFile(db: Connection, file: string): void {
  // A file of an older version may be large, and its votes get their checksums when they are copied.
  if (!hasTable(db, "embeddings") || hasTable(db, "legacy_log")) return;
  if (structuralProblems(db).length === 0) return;
  db.exec("REINDEX");
  const [problem] = structuralProblems(db);
  if (problem !== undefined) throw damaged(file, `is damaged: ${problem}`);
}

export function structuralProblems(db: Connection): string[] {
  const rows = db.pragma("integrity_check(10)") as { readonly integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((text) => text !== "ok");
}

export function hasTable(db: Connection, name: string): boolean {
  const found = db
    .prepare<[string], number>("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .pluck()
    .get(name);
  return found !== undefined;
}

/**
 * Checks the content of the log: the checksum of every vote and control, and that nothing is
 * missing which was acknowledged. `hadUnmerged` tells whether there was a write-ahead log, from
 * which something can be missing; `acknowledged` is the position in the head file. Throws InputError.
 */
export function checkLog(
  db: Connection,
  file: string,
  hadUnmerged: boolean,
  acknowledged = readHead(file),
): void {
  for (const row of db.prepare<[], LoggedRow & Checked>("SELECT * FROM log").iterate()) {
    if (checksumOf(row) !== row.checksum) {
      throw damaged(file, `is damaged: the ${row.kind} event at position ${row.position} changed`);
    }
  }
  const last = lastPosition(db);
  const hint = `restore a newer backup with "joust restore"; to continue with the votes up to position ${last}, delete ${headFile(file)}`;
  if (acknowledged === "damaged" && hadUnmerged) {
    throw damaged(headFile(file), "is damaged, so the newest votes may be missing", hint);
  }
  if (typeof acknowledged === "number" && last < acknowledged) {
    const problem = `ends at position ${last}, but votes up to position ${acknowledged} were acknowledged: its write-ahead log is damaged or missing, or it is an older copy`;
    throw damaged(file, problem, hint);
  }
}

interface Checked {
  readonly checksum: number;
}

/** Damaged snapshots. Throws InputError if votes that one of them replaces were pruned. */
export function damagedSnapshots(db: Connection, file: string): Snapshot[] {
  const snapshots = db.prepare<[], Snapshot>(`
    SELECT s.router, s.position, s.state, s.checksum, h.position IS NOT NULL AS isHorizon
    FROM snapshots s LEFT JOIN horizons h USING (router, position)`);
  const found: Snapshot[] = [];
  for (const row of snapshots.iterate()) {
    if (row.checksum !== null && crc32(row.state) !== row.checksum) found.push(row);
  }
  const start = found.find(({ isHorizon }) => isHorizon);
  if (start) {
    const what = `the snapshot of ${start.router} at position ${start.position}`;
    throw damaged(file, `is damaged: ${what} changed, and the votes before it were pruned`);
  }
  return found;
}

/** Deletes damaged snapshots. An older one or the log replaces them. */
export function dropDamagedSnapshots(db: Connection, file: string): void {
  const remove = db.prepare("DELETE FROM snapshots WHERE router = ? AND position = ?");
  for (const { router, position } of damagedSnapshots(db, file)) remove.run(router, position);
}

interface Snapshot {
  readonly router: string;
  readonly position: number;
  readonly state: Uint8Array;
  readonly checksum: number | null;
  readonly isHorizon: number;
}

export function lastPosition(db: Connection): number {
  const last = db
    .prepare<[], number>("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'log'")
    .pluck();
  return last.get()!;
}
