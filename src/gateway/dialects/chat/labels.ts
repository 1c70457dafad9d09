import { editMembers } from "../../wire/json-edit.ts";
import type { Members } from "../../wire/json-scan.ts";
import type { Json } from "../../wire/json-value.ts";

/**
 * What the gateway writes into an answer: its own id, by which one can vote; the
 * name of the model as clients know it; and `joust`. All other bytes are the
 * upstream's.
 */
export interface Labels {
  readonly id: string;
  readonly model: string;
  /** JSON text. */
  readonly joust: string;
}

export function labelWhole(answer: Members, { id, model, joust }: Labels): Uint8Array {
  const set = { id: JSON.stringify(id), model: JSON.stringify(model), joust };
  return editMembers(answer, { set });
}

/**
 * The same for a stream. `joust` goes into the first event; id and model are the
 * same in all of them, so that they are found by their bytes and nothing is
 * parsed: a quote inside a JSON text is escaped, so `"id":"..."` is a member.
 */
export class StreamLabels {
  readonly #labels: Labels;
  #swaps: readonly Swap[] | undefined;

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  /** A piece of whole events. */
  label(piece: Uint8Array): Uint8Array {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (this.#swaps) return swapAll(bytes, this.#swaps);
    const open = firstObject(bytes);
    if (open < 0) return bytes; // a comment that says that somebody is there
    const end = bytes.indexOf(0x0a, open);
    const event = parse(bytes.toString("utf8", open - 1, end < 0 ? bytes.length : end));
    this.#swaps = event ? swapsFor(event, this.#labels) : [];
    if (!event) return bytes;
    const comma = Object.keys(event).length > 0 ? "," : "";
    const head = Buffer.from(`"joust":${this.#labels.joust}${comma}`);
    return Buffer.concat([
      bytes.subarray(0, open),
      head,
      swapAll(bytes.subarray(open), this.#swaps),
    ]);
  }
}

/** The place after the brace of the first event's data; -1 where there is none. */
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

/** Undefined where the data goes on in another line. */
function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return undefined;
  }
}

interface Swap {
  readonly from: Buffer;
  readonly to: Buffer;
}

function swapsFor(event: Json, { id, model }: Labels): Swap[] {
  return [swap("id", event.id, id), swap("model", event.model, model)].filter(
    (each) => each !== undefined,
  );
}

function swap(name: string, from: unknown, to: string): Swap | undefined {
  if (typeof from !== "string" || from === to) return undefined;
  const member = (value: string) => Buffer.from(`"${name}":${JSON.stringify(value)}`);
  return { from: member(from), to: member(to) };
}

/** One pass for all of them: the bytes between are copied once. */
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
