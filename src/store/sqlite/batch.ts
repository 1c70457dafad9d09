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
  readonly tallies: readonly Tally[];
  readonly spending: ReturnType<typeof spending>;
}

/** Columns of a decision. The last is the end of its embedding in `vectors`. */
type DecisionValues = readonly [
  ...values: [string, string, number, string | null, string | null, Uint8Array | null, string],
  end: number,
];
type AnswerValues = readonly [string, number, string, number, string | null, string];

/**
 * Writes a batch. If some of its rows were stored already, it writes nothing and returns their
 * positions among all rows, decisions first; otherwise an empty list.
 */
export type WriteBatch = (batch: DayBatch) => Promise<readonly number[]>;

/**
 * Records events, one batch per day. Events that were stored already, by an attempt whose result
 * was lost or that failed on another day, are left out and not counted again.
 */
export async function recordInBatches(
  events: readonly DecisionEvent[],
  countedOnly: readonly DecisionEvent[],
  write: WriteBatch,
): Promise<void> {
  const kept = Map.groupBy(events.map(rowed), ({ row }) => row.day);
  const uncounted = countedOnly.filter((event) => !COUNTED.has(event));
  const counted = Map.groupBy(uncounted.map(rowed), ({ row }) => row.day);
  const finished: Rowed[] = [];
  for (const day of new Set([...kept.keys(), ...counted.keys()])) {
    const ownCounted = counted.get(day) ?? [];
    try {
      await recordDay(day, kept.get(day) ?? [], ownCounted, write);
    } catch (error) {
      for (const { event } of finished) COUNTED.add(event);
      throw error;
    }
    finished.push(...ownCounted);
  }
}

/**
 * Events without a row that were counted by an attempt that failed on a later day. The caller sends
 * the same objects again.
 */
const COUNTED = new WeakSet<DecisionEvent>();

async function recordDay(
  day: number,
  kept: readonly Rowed[],
  counted: readonly Rowed[],
  write: WriteBatch,
): Promise<void> {
  // The rows of a batch are in this order.
  let rows = [...kept.filter(isDecision), ...kept.filter((one) => !isDecision(one))];
  for (;;) {
    const stored = await write(batchOf(day, rows, counted));
    if (stored.length === 0) return;
    const known = new Set(stored);
    rows = rows.filter((_, i) => !known.has(i));
  }
}

interface Rowed {
  readonly event: DecisionEvent;
  readonly row: DecisionRow | AnswerRow;
}

function rowed(event: DecisionEvent): Rowed {
  return { event, row: event.kind === "routed" ? decisionRow(event) : answerRow(event) };
}

function isDecision({ event }: Rowed): boolean {
  return event.kind === "routed";
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
  const all = [...kept, ...counted].map(({ event }) => event);
  return {
    day,
    decisions,
    answers,
    vectors: joined(vectors, end),
    tallies: tally(all),
    spending: spending(all),
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
