import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { checksumOf, type LoggedRow } from "../row.ts";

type Connection = Sqlite.Database;

/** The error for a file that must not be used. */
export function damaged(file: string, problem: string, hint = RESTORE): InputError {
  return new InputError({ file }, problem, hint);
}

const RESTORE = 'restore a backup with "joust restore", or choose another folder with --data';

/**
 * Checks the structure of a file of the present schema. Damaged indexes are built again, because
 * the tables hold everything that they contain. Throws InputError if tables are damaged.
 */
export function checkFile(db: Connection, file: string): void {
  // A file of an older version may be large, and its votes get their checksums when they are copied.
  if (!hasTable(db, "embeddings") || hasTable(db, "legacy_log")) return;
  if (problemsOf(db).length === 0) return;
  db.exec("REINDEX");
  const [problem] = problemsOf(db);
  if (problem !== undefined) throw damaged(file, `is damaged: ${problem}`);
}

function problemsOf(db: Connection): string[] {
  const found = db.pragma("integrity_check(10)", { simple: false }) as {
    readonly integrity_check: string;
  }[];
  return found.map((row) => row.integrity_check).filter((text) => text !== "ok");
}

export function hasTable(db: Connection, name: string): boolean {
  const found = db
    .prepare<[string], number>("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .pluck()
    .get(name);
  return found !== undefined;
}

/**
 * Checks the content: the checksum of every vote and control, the snapshots that learning starts
 * from, and that nothing is missing which was acknowledged. Other damaged snapshots are deleted,
 * because an older one or the log replaces them.
 */
export function checkLog(db: Connection, file: string): void {
  for (const row of db.prepare<[], LoggedRow & Checked>("SELECT * FROM log").iterate()) {
    if (checksumOf(row) !== row.checksum) {
      throw damaged(file, `is damaged: the ${row.kind} event at position ${row.position} changed`);
    }
  }
  const acknowledged = readHead(file);
  const last = lastPosition(db);
  if (acknowledged !== undefined && last < acknowledged) {
    throw damaged(
      file,
      `ends at position ${last}, but votes up to position ${acknowledged} were acknowledged: its write-ahead log is damaged or missing, or it is an older copy`,
      `restore a newer backup with "joust restore"; to continue without these votes, delete ${headFile(file)}`,
    );
  }
  const snapshots = db.prepare<[], Snapshot>(`
    SELECT s.router, s.position, s.state, s.checksum, h.position IS NOT NULL AS isHorizon
    FROM snapshots s LEFT JOIN horizons h USING (router, position)`);
  const bad: Snapshot[] = [];
  for (const row of snapshots.iterate()) {
    if (row.checksum !== null && crc32(row.state) !== row.checksum) bad.push(row);
  }
  const remove = db.prepare("DELETE FROM snapshots WHERE router = ? AND position = ?");
  for (const { router, position, isHorizon } of bad) {
    if (isHorizon) {
      throw damaged(
        file,
        `is damaged: the snapshot of ${router} at ${position} changed, and the votes before it were pruned`,
      );
    }
    remove.run(router, position);
  }
}

interface Checked {
  readonly checksum: number;
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

function headFile(file: string): string {
  return `${file}-head`;
}

/** Position up to which votes were acknowledged, if the file that says so exists and is undamaged. */
function readHead(file: string): number | undefined {
  if (!existsSync(headFile(file))) return undefined;
  const [position = "", checksum] = readFileSync(headFile(file), "utf8").trim().split(" ");
  return crc32(position) === Number(checksum) ? Number(position) : undefined;
}

/**
 * Writes the position of the last acknowledged event to a file of its own, without waiting for the
 * disk. SQLite ignores a damaged write-ahead log as if it had not been written; this file tells
 * that something is missing.
 */
export class HeadFile {
  readonly #descriptor: number;

  constructor(file: string) {
    this.#descriptor = openSync(headFile(file), existsSync(headFile(file)) ? "r+" : "w", 0o600);
  }

  write(position: number): void {
    const digits = String(position).padStart(16, "0");
    writeSync(this.#descriptor, `${digits} ${String(crc32(digits)).padStart(10, "0")}\n`, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
