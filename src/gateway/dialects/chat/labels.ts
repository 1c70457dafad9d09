import { readUsage } from "../../providers/upstream/usage.ts";
import { editMembers, isRecord, type Json, type Members, parsed } from "../../wire/json.ts";
import type { Dialect, Labels } from "../dialect.ts";

/** Sets id, model and `joust` in a complete answer. All other bytes are the upstream's. */
export function labelWhole(answer: Members, { id, model, joust }: Labels): Uint8Array {
  const set = { id: JSON.stringify(completionId(id)), model: JSON.stringify(model), joust };
  return editMembers(answer, { set });
}

function completionId(decision: string): string {
  return `chatcmpl-${decision}`;
}

/**
 * Labels a stream. `joust` goes into the first event. Id and model are the same in all
 * events, so they are replaced as bytes and nothing is parsed: a quote inside a JSON string is
 * escaped, so `"id":"..."` is always a member.
 */
export const labelStream: Dialect["labelStream"] = (labels, costOf) => {
  const label = labelEvents(labels);
  return costOf ? (piece) => addCost(label(piece), costOf) : label;
};

function labelEvents(labels: Labels): (piece: Uint8Array) => Buffer {
  let swaps: readonly Swap[] | undefined;
  return (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (swaps) return swapAll(bytes, swaps);
    const open = firstObject(bytes);
    if (open < 0) return bytes; // a comment that keeps the connection alive
    const end = bytes.indexOf(0x0a, open);
    const event = parsed(bytes.toString("utf8", open - 1, end < 0 ? bytes.length : end));
    swaps = isRecord(event) ? swapsFor(event, labels) : [];
    if (!isRecord(event)) return bytes; // the data continues on another line
    const comma = Object.keys(event).length > 0 ? "," : "";
    const head = Buffer.from(`"joust":${labels.joust}${comma}`);
    return Buffer.concat([bytes.subarray(0, open), head, swapAll(bytes.subarray(open), swaps)]);
  };
}

/** Offset after the opening brace of the first event's data, or -1 if the bytes have none. */
function firstObject(bytes: Buffer): number {
  for (let at = bytes.indexOf(DATA); at >= 0; at = bytes.indexOf(DATA, at + 1)) {
    if (at > 0 && bytes[at - 1] !== 0x0a && bytes[at - 1] !== 0x0d) continue;
    let from = at + DATA.length;
    while (bytes[from] === 0x20) from++;
    if (bytes[from] === 0x7b) return from + 1;
  }
  return -1;
}

const DATA = Buffer.from("data:");

interface Swap {
  readonly from: Buffer;
  readonly to: Buffer;
}

function swapsFor(event: Json, { id, model }: Labels): Swap[] {
  return [swap("id", event.id, completionId(id)), swap("model", event.model, model)].filter(
    (each) => each !== undefined,
  );
}

function swap(name: string, from: unknown, to: string): Swap | undefined {
  if (typeof from !== "string" || from === to) return undefined;
  const member = (value: string) => Buffer.from(`"${name}":${JSON.stringify(value)}`);
  return { from: member(from), to: member(to) };
}

/** Makes all replacements in one pass, so that the bytes between them are copied once. */
function swapAll(bytes: Buffer, swaps: readonly Swap[]): Buffer {
  const parts: Buffer[] = [];
  const next = swaps.map(({ from }) => bytes.indexOf(from));
  let done = 0;
  for (;;) {
    let first = -1;
    for (let i = 0; i < next.length; i++) {
      if (next[i]! >= 0 && (first < 0 || next[i]! < next[first]!)) first = i;
    }
    if (first < 0) break;
    const { from, to } = swaps[first]!;
    parts.push(bytes.subarray(done, next[first]), to);
    done = next[first]! + from.length;
    next[first] = bytes.indexOf(from, done);
  }
  if (done === 0) return bytes;
  parts.push(bytes.subarray(done));
  return Buffer.concat(parts);
}

type CostOf = NonNullable<Parameters<Dialect["labelStream"]>[1]>;

/** Adds `joust.cost` to the event that has the usage. */
function addCost(bytes: Buffer, costOf: CostOf): Buffer {
  if (!bytes.includes(USAGE)) return bytes;
  const lines = bytes.toString().split("\n");
  return Buffer.from(lines.map((line) => costLine(line, costOf)).join("\n"));
}

const USAGE = Buffer.from('"usage":{');

function costLine(line: string, costOf: CostOf): string {
  const open = /^data: *\{/.exec(line)?.[0].length;
  if (open === undefined || !line.includes('"usage":{')) return line;
  const event: unknown = JSON.parse(line.slice(open - 1));
  if (!isRecord(event) || "joust" in event) return line;
  const cost = costOf(readUsage(event.usage));
  if (cost === undefined) return line;
  return `data: {"joust":${JSON.stringify({ cost })},${line.slice(open)}`;
}
