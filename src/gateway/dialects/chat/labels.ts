import { readUsage } from "../../codecs/chat/usage.ts";
import { answerId } from "../../codecs/translate.ts";
import { editMembers, isRecord, JsonError, type Members, scanObject } from "../../wire/json.ts";
import type { Dialect, Labels } from "../dialect.ts";

/** Sets id, model and `joust` in a complete answer. All other bytes are the upstream's. */
export function labelWhole(answer: Members, { id, model, joust }: Labels): Uint8Array {
  const set = { id: JSON.stringify(answerId("chat", id)), model: JSON.stringify(model), joust };
  return editMembers(answer, { set });
}

/**
 * Labels a stream. `joust` goes into the first event. Nearly all upstreams write id and model with
 * the same bytes in every event, so these are replaced and nothing is parsed: a quote inside a
 * JSON string is escaped, so `"id":"..."` is always a member. Other events are edited one by one.
 */
export const labelStream: Dialect["labelStream"] = (labels, costOf) => {
  const label = labelEvents(labels);
  return costOf ? (piece) => addCost(label(piece), labels.joust, costOf) : label;
};

function labelEvents({ id, model, joust }: Labels): (piece: Uint8Array) => Buffer {
  const set = { id: JSON.stringify(answerId("chat", id)), model: JSON.stringify(model) };
  let hasBegun = false;
  let swaps: readonly Swap[] | undefined;
  const label = (bytes: Buffer) => (swaps && swapAll(bytes, swaps)) ?? editEvents(bytes, set);
  return (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (hasBegun) return label(bytes);
    const open = nextObject(bytes);
    if (open < 0) return bytes; // a comment that keeps the connection alive
    hasBegun = true;
    const event = scanLine(bytes, open);
    if (!event) return bytes; // the data continues on another line
    swaps = swapsFor(event, set);
    const labelled = label(bytes);
    return editMembers(scanLine(labelled, nextObject(labelled))!, { set: { joust } });
  };
}

/** The JSON object from `open` to the end of its line. Undefined if it does not end there. */
function scanLine(bytes: Buffer, open: number): Members | undefined {
  const end = bytes.indexOf(0x0a, open);
  try {
    return scanObject(bytes, open, end < 0 ? bytes.length : end);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Offset of the opening brace of the next event's data, or -1 if the bytes have none. */
function nextObject(bytes: Buffer, from = 0): number {
  for (let at = bytes.indexOf(DATA, from); at >= 0; at = bytes.indexOf(DATA, at + 1)) {
    if (at > 0 && bytes[at - 1] !== 0x0a && bytes[at - 1] !== 0x0d) continue;
    let open = at + DATA.length;
    while (bytes[open] === 0x20) open++;
    if (bytes[open] === 0x7b) return open;
  }
  return -1;
}

function countObjects(bytes: Buffer): number {
  let count = 0;
  for (let at = nextObject(bytes); at >= 0; at = nextObject(bytes, at)) count++;
  return count;
}

const DATA = Buffer.from("data:");

interface Swap {
  readonly from: Buffer;
  readonly to: Buffer;
}

/**
 * The bytes of the members in an event, and those that replace them. Undefined if the event lacks a member, which later
 * events may have.
 */
function swapsFor(event: Members, set: Readonly<Record<string, string>>): Swap[] | undefined {
  const swaps: Swap[] = [];
  for (const [name, value] of Object.entries(set)) {
    const member = event.find(name);
    if (!member) return undefined;
    const { keyStart, valueStart, valueEnd } = member;
    const key = event.json.subarray(keyStart, valueStart);
    const from = Buffer.from(event.json.subarray(keyStart, valueEnd));
    swaps.push({ from, to: Buffer.concat([key, Buffer.from(value)]) });
  }
  return swaps;
}

/**
 * Makes all replacements in one pass, so that the bytes between them are copied once. Returns
 * undefined unless each of them is made once per event.
 */
function swapAll(bytes: Buffer, swaps: readonly Swap[]): Buffer | undefined {
  const parts: Buffer[] = [];
  const next = swaps.map(({ from }) => bytes.indexOf(from));
  let made = 0;
  let done = 0;
  for (;;) {
    let first = -1;
    for (let i = 0; i < next.length; i++) {
      if (next[i]! >= 0 && (first < 0 || next[i]! < next[first]!)) first = i;
    }
    if (first < 0) break;
    const { from, to } = swaps[first]!;
    parts.push(bytes.subarray(done, next[first]), to);
    made++;
    done = next[first]! + from.length;
    next[first] = bytes.indexOf(from, done);
  }
  if (made !== swaps.length * countObjects(bytes)) return undefined;
  if (done === 0) return bytes;
  parts.push(bytes.subarray(done));
  return Buffer.concat(parts);
}

/** Replaces the members that an event has, in each event whose data is one line. */
function editEvents(bytes: Buffer, set: Readonly<Record<string, string>>): Buffer {
  const lines = bytes.toString().split("\n");
  const edited = lines.map((line) => {
    const event = eventIn(line);
    if (!event) return line;
    const own = Object.entries(set).filter(([name]) => event.find(name));
    return editMembers(event, { set: Object.fromEntries(own) }).toString();
  });
  return Buffer.from(edited.join("\n"));
}

type CostOf = NonNullable<Parameters<Dialect["labelStream"]>[1]>;

/**
 * Adds `joust` with the cost to the event that has the usage. All members are repeated, because the
 * helpers of OpenAI's clients keep the last value of a member.
 */
function addCost(bytes: Buffer, joust: string, costOf: CostOf): Buffer {
  if (!bytes.includes('"usage"')) return bytes;
  const lines = bytes.toString().split("\n");
  return Buffer.from(lines.map((line) => costLine(line, joust, costOf)).join("\n"));
}

function costLine(line: string, joust: string, costOf: CostOf): string {
  const event = line.includes('"usage"') ? eventIn(line) : undefined;
  const usage = event?.value("usage");
  const cost = isRecord(usage) ? costOf(readUsage(usage)) : undefined;
  if (!event || cost === undefined) return line;
  const note = JSON.stringify({ ...JSON.parse(joust), cost });
  return editMembers(event, { set: { joust: note } }).toString();
}

/** The members of the event in a line, with offsets in the line. */
function eventIn(line: string): Members | undefined {
  const open = /^data: *(?=\{)/.exec(line)?.[0].length;
  return open === undefined ? undefined : scanLine(Buffer.from(line), open);
}
