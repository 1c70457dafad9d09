import type { AnswerRow, DecisionRow } from "../decision-row.ts";
import type { DayBatch } from "./batch.ts";
import type { Connection } from "./connect.ts";
import { spendingAdder, tallyAdder } from "./counts.ts";
import type { DayFiles } from "./days.ts";

/**
 * Writes decisions and answers into the file of their day in one transaction. If some of the rows were
 * stored already, it writes nothing and returns their positions.
 */
export function record(days: DayFiles, batch: DayBatch): readonly number[] {
  return days.use(batch.day, (db) => {
    try {
      write(db)(batch);
      return [];
    } catch (error) {
      if (error instanceof StoredAlready) return error.positions;
      throw error;
    }
  });
}

/** Rolls a transaction back, because some of its rows were stored already. */
class StoredAlready extends Error {
  override readonly name = "StoredAlready";
  readonly positions: readonly number[];

  constructor(positions: readonly number[]) {
    super(`${positions.length} rows were stored already`);
    this.positions = positions;
  }
}

type Write = (batch: DayBatch) => void;
const PREPARED = new WeakMap<Connection, Write>();

/** Prepares writing to a file once. */
function write(db: Connection): Write {
  const known = PREPARED.get(db);
  if (known) return known;
  const insert = inserter(db);
  const [addTallies, addSpending] = [tallyAdder(db), spendingAdder(db)];
  const run = db.transaction<Write>((batch) => {
    const stored: number[] = [];
    rowsOf(batch).forEach((row, i) => {
      if (!insert(row)) stored.push(i);
    });
    if (stored.length > 0) throw new StoredAlready(stored);
    addTallies(batch.tallies);
    addSpending(batch.spending);
  });
  PREPARED.set(db, run.immediate);
  return run.immediate;
}

/** The columns of a row. */
type Columns = Omit<DecisionRow, "day"> | Omit<AnswerRow, "day" | "searched">;

function rowsOf({ decisions, answers, vectors }: DayBatch): Columns[] {
  let start = 0;
  const rows: Columns[] = [];
  for (const [id, router, at, owner, session, prompt, body, end] of decisions) {
    const x = vectors.subarray(start, end);
    rows.push({ id, router, at, owner, session, x, prompt, body });
    start = end;
  }
  for (const [decision, slot, router, at, owner, body] of answers) {
    rows.push({ decision, slot, router, at, owner, body });
  }
  return rows;
}

/** Prepares inserting a row. Returns false if it was stored already. */
export function inserter(db: Connection): (row: Columns) => boolean {
  const decision = db.prepare(`
    INSERT INTO decisions (id, router, at, owner, session, x, prompt, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const answer = db.prepare(`
    INSERT INTO answers (decision, slot, router, at, owner, body)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  return (row) => {
    if ("slot" in row) {
      const { decision: id, slot, router, at, owner, body } = row;
      return answer.run(id, slot, router, at, owner, body).changes === 1;
    }
    const { id, router, at, owner, session, x, prompt, body } = row;
    return decision.run(id, router, at, owner, session, x, prompt, body).changes === 1;
  };
}
