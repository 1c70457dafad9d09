import { type AnswerRow, answerRow, type DecisionRow, decisionRow } from "../decision-row.ts";
import type { DecisionEvent } from "../events.ts";
import { spending, type Tally, tally } from "../tally.ts";

/**
 * Decisions and answers of one day as they are sent to the thread that writes them: one text per row, one
 * block of bytes for all embeddings, and the counts of all of them. Events themselves have many small
 * objects, and copying these to another thread takes longer than writing them.
 */
export interface DayBatch {
  readonly day: number;
  readonly decisions: readonly DecisionValues[];
  readonly answers: readonly AnswerValues[];
  /** The embeddings of the decisions, one after the other. */
  readonly vectors: Uint8Array;
  /** Counts of all events, the stored ones and those that are only counted. */
  readonly all: Counted;
  /** Counts of the events that are only counted. */
  readonly countedOnly: Counted;
}

/** Columns of a decision. The last is the end of its embedding in `vectors`. */
type DecisionValues = readonly [
  ...values: [string, string, number, string | null, string | null, Uint8Array | null, string],
  end: number,
];
type AnswerValues = readonly [string, number, string, number, string | null, string];

interface Counted {
  readonly tallies: readonly Tally[];
  readonly spending: ReturnType<typeof spending>;
}

/** Prepares events for the thread, by day. */
export function batchesOf(
  events: readonly DecisionEvent[],
  countedOnly: readonly DecisionEvent[],
): DayBatch[] {
  const kept = Map.groupBy(events.map(rowed), ({ row }) => row.day);
  const counted = Map.groupBy(countedOnly.map(rowed), ({ row }) => row.day);
  const days = new Set([...kept.keys(), ...counted.keys()]);
  return Array.from(days, (day) => batchOf(day, kept.get(day) ?? [], counted.get(day) ?? []));
}

interface Rowed {
  readonly event: DecisionEvent;
  readonly row: DecisionRow | AnswerRow;
}

function rowed(event: DecisionEvent): Rowed {
  return { event, row: event.kind === "routed" ? decisionRow(event) : answerRow(event) };
}

function batchOf(day: number, kept: readonly Rowed[], counted: readonly Rowed[]): DayBatch {
  const decisions: DecisionValues[] = [];
  const answers: AnswerValues[] = [];
  const vectors: Uint8Array[] = [];
  let end = 0;
  for (const { row } of kept) {
    if ("slot" in row) {
      answers.push([row.decision, row.slot, row.router, row.at, row.owner, row.body]);
      continue;
    }
    const { id, router, at, owner, session, prompt, body, x } = row;
    vectors.push(x);
    end += x.length;
    decisions.push([id, router, at, owner, session, prompt, body, end]);
  }
  return {
    day,
    decisions,
    answers,
    vectors: joined(vectors, end),
    all: countsOf([...kept, ...counted]),
    countedOnly: countsOf(counted),
  };
}

/** The bytes in memory of their own, which can be moved to another thread. */
function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function countsOf(entries: readonly Rowed[]): Counted {
  const events = entries.map(({ event }) => event);
  return { tallies: tally(events), spending: spending(events) };
}
