import { dayOf } from "../decision-id.ts";
import { type AnswerRow, answerRow, type DecisionRow, decisionRow } from "../decision-row.ts";
import type { DecisionEvent } from "../events.ts";
import type { Connection } from "./connect.ts";
import { counter } from "./counts.ts";
import type { DayFiles } from "./days.ts";

/** Writes decisions and answers into the files of their days, one transaction per day. */
export function record(
  days: DayFiles,
  events: readonly DecisionEvent[],
  countedOnly: readonly DecisionEvent[],
): void {
  const kept = Map.groupBy(events, dayOfEvent);
  const counted = Map.groupBy(countedOnly, dayOfEvent);
  for (const day of new Set([...kept.keys(), ...counted.keys()])) {
    days.use(day, (db) => write(db)(kept.get(day) ?? [], counted.get(day) ?? []));
  }
}

function dayOfEvent(event: DecisionEvent): number {
  return dayOf(event.kind === "routed" ? event.id : event.decision, event.at);
}

type Write = (events: readonly DecisionEvent[], countedOnly: readonly DecisionEvent[]) => void;
const PREPARED = new WeakMap<Connection, Write>();

/** Prepares writing to a file once. */
function write(db: Connection): Write {
  const known = PREPARED.get(db);
  if (known) return known;
  const insert = inserter(db);
  const count = counter(db);
  const run = db.transaction<Write>((events, countedOnly) => {
    const stored = events.filter((event) =>
      insert(event.kind === "routed" ? decisionRow(event) : answerRow(event)),
    );
    count([...stored, ...countedOnly]);
  });
  PREPARED.set(db, run.immediate);
  return run.immediate;
}

/** Prepares inserting a row. Returns false if it was stored already. */
export function inserter(db: Connection): (row: DecisionRow | AnswerRow) => boolean {
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
