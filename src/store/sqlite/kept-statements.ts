import type { Statement as Prepared } from "better-sqlite3";
import { type Statement, textOf, type Work } from "../sql.ts";
import type { Connection } from "./connect.ts";

/** Statements that a connection keeps. Texts differ by the filters of a search and by the number of values. */
const MOST_KEPT = 200;

const kept = new WeakMap<Connection, Map<string, Prepared<unknown[], unknown>>>();

/** Runs a statement that is prepared once per connection, and returns its rows. */
export function selectRows<T>(db: Connection, statement: Statement): T[] {
  const statements = kept.get(db) ?? new Map<string, Prepared<unknown[], unknown>>();
  kept.set(db, statements);
  const text = textOf(statement, () => "?");
  const prepared = statements.get(text) ?? db.prepare<unknown[], unknown>(text);
  // The map keeps its order of insertion, so that the first entry is the least recently used one.
  statements.delete(text);
  statements.set(text, prepared);
  if (statements.size > MOST_KEPT) statements.delete(statements.keys().next().value!);
  if (prepared.reader) return prepared.all(...statement.values) as T[];
  prepared.run(...statement.values);
  return [];
}

/** Runs the statements of a transaction, one after the other. */
export function perform<T>(db: Connection, work: Work<T>): T {
  let step = work.next();
  while (!step.done) step = work.next(selectRows(db, step.value));
  return step.value;
}
