import type { Decision } from "../decision.ts";
import { dayOf } from "../decision-id.ts";
import { answerBody, decisionBody, storedSession } from "../decision-row.ts";
import type { Answered, DecisionEvent } from "../events.ts";
import { checkName } from "../row.ts";
import { spending, type Tally, tally } from "../tally.ts";
import { sharedPackedBytesOf } from "../vector.ts";

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
  const kept = Map.groupBy(events, dayOfEvent);
  const counted = Map.groupBy(
    countedOnly.filter((event) => !COUNTED.has(event)),
    dayOfEvent,
  );
  const finished: DecisionEvent[] = [];
  for (const day of new Set([...kept.keys(), ...counted.keys()])) {
    const ownCounted = counted.get(day) ?? [];
    try {
      await recordDay(day, kept.get(day) ?? [], ownCounted, write);
    } catch (error) {
      for (const event of finished) COUNTED.add(event);
      throw error;
    }
    finished.push(...ownCounted);
  }
}

/** The day of the decision that an event is about. Throws if its id is not a valid name. */
function dayOfEvent(event: DecisionEvent): number {
  const id = event.kind === "routed" ? event.id : event.decision;
  return dayOf(checkName("decision", id), event.at);
}

/**
 * Events without a row that were counted by an attempt that failed on a later day. The caller sends
 * the same objects again.
 */
const COUNTED = new WeakSet<DecisionEvent>();

async function recordDay(
  day: number,
  kept: readonly DecisionEvent[],
  counted: readonly DecisionEvent[],
  write: WriteBatch,
): Promise<void> {
  let decisions = kept.filter((event) => event.kind === "routed");
  let answers = kept.filter((event) => event.kind === "answered");
  for (;;) {
    const stored = await write(batchOf(day, decisions, answers, counted));
    if (stored.length === 0) return;
    const known = new Set(stored);
    const before = decisions.length;
    decisions = decisions.filter((_, i) => !known.has(i));
    answers = answers.filter((_, i) => !known.has(before + i));
  }
}

function batchOf(
  day: number,
  decisions: readonly Decision[],
  answers: readonly Answered[],
  counted: readonly DecisionEvent[],
): DayBatch {
  const all = [...decisions, ...answers, ...counted];
  const vectors = new Vectors(decisions.length);
  return {
    day,
    decisions: decisions.map((event) => [
      event.id,
      event.router,
      event.at,
      event.owner ?? null,
      storedSession(event),
      event.prompt ?? null,
      decisionBody(event),
      vectors.add(event.x),
    ]),
    answers: answers.map((event) => [
      event.decision,
      event.slot,
      event.router,
      event.at,
      event.owner ?? null,
      answerBody(event),
    ]),
    vectors: vectors.bytes,
    tallies: tally(all),
    spending: spending(all),
  };
}

/** Embeddings one after the other, in memory of their own, which can be moved to another thread. */
class Vectors {
  readonly #count: number;
  #memory = new Uint8Array(0);
  #end = 0;

  /** `count` is the number of embeddings. Most of the time all of them have the same size. */
  constructor(count: number) {
    this.#count = count;
  }

  /** Appends an embedding and returns its end. */
  add(x: Float64Array): number {
    const packed = sharedPackedBytesOf(x);
    const start = this.#end;
    this.#end += packed.length;
    if (this.#end > this.#memory.length) this.#grow(this.#count * packed.length);
    this.#memory.set(packed, start);
    return this.#end;
  }

  #grow(size: number): void {
    const larger = new Uint8Array(this.#memory.length + size);
    larger.set(this.#memory);
    this.#memory = larger;
  }

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#end);
  }
}
