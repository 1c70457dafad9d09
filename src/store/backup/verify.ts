import Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { checkLog, damagedSnapshots, hasTable, structuralProblems } from "../sqlite/check.ts";
import { daysIn, fileOf, folderOf } from "../sqlite/days.ts";
import type { OnFile } from "./manifest.ts";

/** Checks all files of a store without changing them. Returns the problems that it finds. */
export function problemsInFiles(file: string, onFile: OnFile = () => {}): string[] {
  onFile(file);
  const problems = problemsIn(file, (db) => {
    const found = structuralProblems(db);
    if (found.length > 0 || !hasTable(db, "embeddings")) return found;
    checkLog(db, file, false);
    return damagedSnapshots(db, file).map(
      ({ router, position }) =>
        `the snapshot of ${router} at position ${position} is damaged; it is not needed and will be deleted at the next start`,
    );
  });
  const folder = folderOf(file);
  const ofDays = daysIn(folder).map((day) => fileOf(folder, day));
  return [
    ...problems,
    ...ofDays.flatMap((day) => {
      onFile(day);
      return problemsIn(day, structuralProblems);
    }),
  ];
}

function problemsIn(file: string, check: (db: Sqlite.Database) => string[]): string[] {
  let db: Sqlite.Database | undefined;
  try {
    db = new Sqlite(file, { readonly: true, timeout: 5000 });
    return check(db).map((problem) => `${file}: ${problem}`);
  } catch (error) {
    if (error instanceof InputError) return [error.message];
    if (error instanceof Sqlite.SqliteError) return [`${file}: ${error.message}`];
    throw error;
  } finally {
    db?.close();
  }
}
