import Sqlite from "better-sqlite3";
import { oldPrompt, oldRows } from "../cases/legacy.case.ts";
import { migrationsOf } from "../migrate.ts";

/** Writes a file as version 0.1 did. */
export function writeOldFile(file: string, decisions: number): void {
  const db = new Sqlite(file);
  db.pragma("journal_mode = wal");
  db.pragma("synchronous = off");
  const [first] = migrationsOf("sqlite");
  db.exec("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  // Indexes are built after the rows, which is faster.
  const statements = first!.sql.replace(/--.*/g, "").split(/(?<=;)/);
  const isIndex = (statement: string) => /CREATE (UNIQUE )?INDEX/.test(statement);
  db.exec(statements.filter((statement) => !isIndex(statement)).join(""));
  db.prepare("INSERT INTO migrations VALUES (1, ?)").run(first!.name);
  const insert = db.prepare(`
    INSERT INTO log (position, router, kind, at, decision, slot, voter, owner, session, x, body)
    VALUES (@position, @router, @kind, @at, @decision, @slot, @voter, @owner, @session, @x, @body)`);
  const prompt = db.prepare("INSERT INTO prompts VALUES (?, ?, ?)");
  db.transaction(() => {
    for (const row of oldRows(decisions)) insert.run(row);
    for (let n = 0; n < decisions; n++) {
      const sealed = oldPrompt(n);
      if (sealed) prompt.run(`d${n}`, n, sealed);
    }
  })();
  db.exec(statements.filter(isIndex).join(""));
  db.close();
}
