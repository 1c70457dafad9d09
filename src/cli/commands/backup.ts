import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { plural } from "../../lab/report/words.ts";
import { newCommand } from "../shared/command.ts";
import { type ShowProgress, watchedStore, withProgress } from "../shared/progress.ts";
import {
  checkExists,
  DEFAULT_DATA,
  databaseOf,
  fileOf,
  type StoreFlags,
  withStore,
  withStoreFlags,
} from "../shared/store-flags.ts";

export function backupCommand(): Command {
  const command = newCommand({
    name: "backup",
    summary: "copy votes, keys, decisions and what was learned to a folder",
    description:
      "Copies everything in the data folder or database to a new folder, even while a gateway uses it. The copy contains hashes of API keys, the secrets of vote tokens and, if they are stored, prompts: keep it as safe as the original.",
    examples: [
      ["Copy a data folder", "joust backup backups/2026-11-16"],
      [
        "Copy a PostgreSQL database",
        "joust backup backups/2026-11-16 --database postgres://joust@db/joust",
      ],
    ],
    notes:
      'The folder has the format of a data folder, with checksums in backup.json. "joust restore" copies it into\na data folder or a PostgreSQL database; both accept backups of either kind.',
  }).argument("<folder>", "new or empty folder");
  return withStoreFlags(command).action(async (folder: string, flags: StoreFlags) => {
    const database = databaseOf(flags);
    // Opening the store reports damage, and converts a store of an older version.
    await withStore(flags, (store) => store.migrated());
    const { position, files } = await withProgress(async (show) => {
      const onFile = (file: string) => show(`copying to ${file}`);
      return database === undefined
        ? (await sqliteBackup()).backUpSqlite(fileOf(flags), folder, onFile)
        : (await postgresBackup()).backUpPostgres(database, folder, onFile);
    });
    process.stdout.write(
      `copied ${plural(files.length, "file")} to ${folder}, with the votes up to position ${position}\n`,
    );
  });
}

export function restoreCommand(): Command {
  const command = newCommand({
    name: "restore",
    summary: "read a backup into an empty data folder or database",
    description:
      "Checks a backup and copies it into a data folder that has no store yet, or into an empty PostgreSQL database. Voters who were forgotten after the backup have to be forgotten again.",
    examples: [
      ["Restore a data folder", "joust restore backups/2026-11-16 --data joust-data"],
      [
        "Move from SQLite to PostgreSQL",
        "joust restore backups/2026-11-16 --database postgres://joust@db/joust",
      ],
    ],
  }).argument("<folder>", "folder of joust backup");
  return withStoreFlags(command).action(async (folder: string, flags: StoreFlags) => {
    const database = databaseOf(flags);
    const { position, at } = await withProgress(async (show) => {
      const onFile = (file: string) => show(`checking and copying ${file}`);
      return database === undefined
        ? (await sqliteBackup()).restoreSqlite(folder, fileOf(flags), onFile)
        : (await postgresBackup()).restorePostgres(folder, database, onFile);
    });
    process.stdout.write(
      `restored the backup of ${at}, with the votes up to position ${position}\n`,
    );
  });
}

export function verifyCommand(): Command {
  const command = newCommand({
    name: "verify",
    summary: "check that files are undamaged and that the log gives the saved posterior",
    description:
      "Checks the structure of all files, the checksum of every vote and snapshot, and that folding the log again gives the newest snapshot. Exits with 1 if something is wrong. A gateway makes the first two checks at every start.",
    examples: [
      ["Check a data folder", "joust verify"],
      ["Check a backup", "joust verify --data backups/2026-11-16"],
    ],
  });
  return withStoreFlags(command).action(async (flags: StoreFlags) => {
    const problems = await withProgress((show) => findProblems(flags, show));
    for (const problem of problems) process.stdout.write(`${problem}\n`);
    if (problems.length === 0) process.stdout.write("no problems found\n");
    process.exitCode = problems.length === 0 ? 0 : 1;
  });
}

async function findProblems(flags: StoreFlags, show: ShowProgress): Promise<string[]> {
  const onFile = (file: string) => show(`checking ${file}`);
  if (databaseOf(flags) === undefined) {
    const { problemsInFiles } = await import("../../store/backup/verify.ts");
    const { checkBackup } = await import("../../store/backup/manifest.ts");
    const folder = flags.data ?? DEFAULT_DATA;
    if (existsSync(join(folder, "backup.json"))) {
      await checkBackup(folder, onFile);
      return problemsInFiles(fileOf(flags), onFile);
    }
    checkExists(fileOf(flags));
    const problems = problemsInFiles(fileOf(flags), onFile);
    if (problems.length > 0) return problems;
  }
  const { policiesOf } = await import("../replay/replay.ts");
  const { checkSnapshot, isDamaged } = await import("../../learner/replay.ts");
  const { findPolicy } = await policiesOf(undefined);
  return withStore(flags, async (opened) => {
    const store = watchedStore(opened, show);
    const problems: string[] = [];
    for (const router of await store.routers()) {
      const head = await store.head(router);
      const checked = await checkSnapshot(store, router, findPolicy, head);
      if (!isDamaged(checked)) continue;
      problems.push(
        `router ${router}: the snapshot at position ${checked!.position} differs from the log`,
      );
    }
    return problems;
  });
}

const sqliteBackup = () => import("../../store/backup/sqlite-backup.ts");
const postgresBackup = () => import("../../store/backup/postgres-backup.ts");
