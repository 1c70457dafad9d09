import Sqlite from "better-sqlite3";
import type { AnswerRow, DecisionRow } from "../decision-row.ts";
import { LEGACY_STEP, type LegacyRow, legacyQuery, movedAnswer, movedDecision } from "../legacy.ts";
import { hasTable } from "./check.ts";
import type { Connection } from "./connect.ts";
import type { DayFiles } from "./days.ts";
import { inserter } from "./record.ts";

/**
 * Moves some decisions of version 0.1 into the files of their days. Returns false when none is
 * left. A step that is interrupted is repeated, which changes nothing: a row is inserted once.
 */
export function moveLegacy(db: Connection, days: DayFiles): boolean {
  if (!hasTable(db, "legacy_progress")) {
    compact(db);
    return false;
  }
  const below = db.prepare<[], number>("SELECT min(position) FROM legacy_progress").pluck().get()!;
  const query = db.prepare<[number, number], LegacyRow>(legacyQuery(() => "?"));
  const rows = query.all(below, LEGACY_STEP);
  if (rows.length === 0) {
    dropTables(db);
    compact(db);
    return false;
  }
  const decisions = rows.filter(({ kind }) => kind === "routed").map(movedDecision);
  const answers = rows.filter(({ kind }) => kind === "answered").map(movedAnswer);
  const all: readonly (DecisionRow | AnswerRow)[] = [...decisions, ...answers];
  for (const [day, own] of Map.groupBy(all, (row) => row.day)) {
    days.use(day, (file) => {
      const insert = inserter(file);
      file.transaction(() => own.forEach(insert)).immediate();
    });
  }
  db.prepare("UPDATE legacy_progress SET position = min(position, ?)").run(rows.at(-1)!.position);
  return true;
}

function dropTables(db: Connection): void {
  const drop = db.transaction(() => {
    for (const table of ["legacy_log", "prompts", "legacy_progress"]) {
      db.exec(`DROP TABLE IF EXISTS ${table}`);
    }
  });
  drop.immediate();
}

/** Returns the space of the moved rows to the file system, once. Later deletions return theirs step by step. */
function compact(db: Connection): void {
  if (db.pragma("auto_vacuum", { simple: true }) === INCREMENTAL) return;
  try {
    db.pragma("auto_vacuum = incremental");
    db.exec("VACUUM");
    // The file keeps its size until the write-ahead log, which has the smaller content, is written back.
    db.pragma("wal_checkpoint(truncate)");
  } catch (error) {
    // Another process uses the file. The next start tries again.
    if (!(error instanceof Sqlite.SqliteError)) throw error;
  }
}

const INCREMENTAL = 2;
