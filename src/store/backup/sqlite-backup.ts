import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { checkLog, hasTable, lastPosition } from "../sqlite/check.ts";
import { createPrivately } from "../sqlite/connect.ts";
import { daysIn, fileOf, folderOf } from "../sqlite/days.ts";
import { readHead } from "../sqlite/head-file.ts";
import { checkBackup, MAIN, type Manifest, type OnFile, writeManifest } from "./manifest.ts";

/**
 * Copies the files of a store while it is in use. Each copy is consistent in itself. The main file
 * is copied first: a decision that is moved out of it during the backup is then in at least one of
 * the two copies. Throws InputError if a vote in the store is damaged or missing: a backup of such a
 * store must not look like a good one.
 */
export async function backUpSqlite(
  file: string,
  folder: string,
  onFile: OnFile = () => {},
): Promise<Manifest> {
  const at = new Date().toISOString();
  createFolder(folder);
  const main = join(folder, MAIN);
  const [source, target] = [folderOf(file), folderOf(main)];
  let days: number[];
  let copied: ReturnType<typeof copyMain>;
  do {
    rmSync(main, { force: true });
    rmSync(target, { recursive: true, force: true });
    days = daysIn(source);
    onFile(main);
    copied = copyMain(file, main);
    for (const day of daysIn(source)) {
      if (copied.dropped.includes(day)) continue;
      mkdirSync(target, { recursive: true, mode: 0o700 });
      onFile(fileOf(target, day));
      if (existsSync(fileOf(source, day))) copy(fileOf(source, day), fileOf(target, day), () => 0);
    }
    // The counts of a day that was dropped after the copy of the main file may be in no copy.
  } while (days.some((day) => !existsSync(fileOf(source, day))));
  return writeManifest(folder, at, copied.position);
}

/** Copies the main file and checks its log. Returns the position of the last vote or control, and the days that were dropped. */
function copyMain(file: string, main: string) {
  // The position is read first, because votes are cast during the copy.
  const acknowledged = readHead(file);
  return copy(file, main, (db) => {
    if (hasTable(db, "embeddings")) checkLog(db, file, false, acknowledged);
    return { position: lastPosition(db), dropped: droppedDays(db) };
  });
}

/** Days whose counts are in the main file already. Their own files still exist if a kill interrupted dropping them. */
function droppedDays(db: Sqlite.Database): number[] {
  if (!hasTable(db, "dropped_days")) return [];
  return db.prepare<[], number>("SELECT day FROM dropped_days").pluck().all();
}

/** Copies a database in one transaction and returns what `read` finds in it. */
function copy<T>(from: string, to: string, read: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(from, { readonly: true, timeout: 5000 });
  try {
    // VACUUM INTO accepts an empty file.
    createPrivately(to);
    db.prepare("VACUUM INTO ?").run(to);
    const made = new Sqlite(to, { readonly: true });
    try {
      return read(made);
    } finally {
      made.close();
    }
  } finally {
    db.close();
  }
}

/** Copies a checked backup into a data folder that has no store yet. */
export async function restoreSqlite(
  backup: string,
  file: string,
  onFile: OnFile = () => {},
): Promise<Manifest> {
  const manifest = await checkBackup(backup, onFile);
  // SQLite would apply the changes in a leftover -wal file to the restored file.
  const beside = ["", "-wal", "-shm", "-journal", "-head"].map((suffix) => `${file}${suffix}`);
  const used = [...beside, folderOf(file)].filter((path) => existsSync(path));
  if (used[0] !== undefined) {
    const names = used.map((path) => basename(path)).join(", ");
    throw new InputError(
      { file: used[0] },
      "exists",
      `restore into an empty folder, or move what is left of the old store away first: ${names}`,
    );
  }
  createFolder(join(file, ".."), true);
  const [source, target] = [folderOf(join(backup, MAIN)), folderOf(file)];
  for (const day of daysIn(source)) {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    onFile(fileOf(target, day));
    await copyPrivately(fileOf(source, day), fileOf(target, day));
  }
  // The main file comes last and as a whole: without it there is no store.
  const unfinished = `${file}.restoring`;
  rmSync(unfinished, { force: true });
  await copyPrivately(join(backup, MAIN), unfinished);
  renameSync(unfinished, file);
  return manifest;
}

/** Copies a file to one that only its owner may read, whatever the mode of the first one is. */
function copyPrivately(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createWriteStream(to, { mode: 0o600, flush: true }));
}

/** Creates a folder that only its owner may read. It must be empty unless `mayExist`. */
export function createFolder(folder: string, mayExist = false): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (mayExist || readdirSync(folder).length === 0) return;
  throw new InputError({ file: folder }, "is not empty", "name a new folder");
}
