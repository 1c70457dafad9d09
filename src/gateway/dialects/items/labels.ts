import { usageAfter } from "../../codecs/items/answer.ts";
import { SIGNATURE_NEEDLES, tagSignatures } from "../../codecs/signatures.ts";
import { answerId } from "../../codecs/translate.ts";
import type { Usage } from "../../providers/upstream/usage.ts";
import { usageIn } from "../../providers/upstream/usage-in.ts";
import { exactJson } from "../../wire/exact.ts";
import {
  editMembers,
  isRecord,
  type Json,
  JsonError,
  type Members,
  scanObject,
} from "../../wire/json.ts";
import type { Dialect, Labels } from "../dialect.ts";

/** Dialects whose streams have events with names. */
type Named = "responses" | "messages";

/** Sets id, model and `joust` in a complete answer. All other bytes are the upstream's. */
export function labelWhole(dialect: Named): Dialect["label"] {
  return (answer, labels) => {
    const { origin } = labels;
    const isSigned = origin !== undefined && hasSignatures(dialect, view(answer.json));
    const own = isSigned ? tagged(answer, dialect, origin) : answer;
    return editMembers(own, { set: membersOf(dialect, labels) });
  };
}

function hasSignatures(dialect: Named, bytes: Buffer | string): boolean {
  return SIGNATURE_NEEDLES[dialect].some((needle) => bytes.includes(needle));
}

function view({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** The object with the name of its model in all signatures. */
function tagged(members: Members, dialect: Named, origin: string): Members {
  const value = exactJson(Buffer.from(members.json).toString());
  return scanObject(Buffer.from(JSON.stringify(tagSignatures(value, dialect, origin))));
}

function membersOf(dialect: Named, { id, model, joust }: Labels): Record<string, string> {
  return {
    id: JSON.stringify(answerId(dialect, id)),
    model: JSON.stringify(model),
    joust,
  };
}

/** Member of an event that holds the answer, with id and model. */
const HOLDERS: Readonly<Record<Named, string>> = { responses: "response", messages: "message" };
/** Bytes that all events to be changed contain, and few others. */
const NEEDLES: Readonly<Record<Named, string>> = {
  responses: '"response"',
  messages: '"message_',
};

/**
 * Labels a stream: the answer in each event that holds it, and the cost beside the usage. Events
 * that only carry texts are not parsed.
 */
export function labelStream(dialect: Named): Dialect["labelStream"] {
  return (labels, costOf) => {
    const set = membersOf(dialect, labels);
    const holder = HOLDERS[dialect];
    let usage: Usage | undefined;
    const signed = new Set<unknown>();
    /** Whether the event continues a signature whose beginning names the model. */
    const continuesSignature = (event: Members): boolean => {
      const delta = event.value("delta");
      if (!isRecord(delta) || delta.type !== "signature_delta") return false;
      const index = event.value("index");
      const isNext = signed.has(index);
      signed.add(index);
      return isNext;
    };
    const cost = (counted: unknown): number | undefined => {
      usage = usageAfter(usage, usageIn(dialect, counted));
      return counted === undefined || !costOf ? undefined : costOf(usage);
    };
    const { origin } = labels;
    const needles = [NEEDLES[dialect], ...(origin === undefined ? [] : SIGNATURE_NEEDLES[dialect])];
    return editingLines(needles, (given, line) => {
      const isSigned =
        origin !== undefined && hasSignatures(dialect, line) && !continuesSignature(given);
      const event = isSigned ? tagged(given, dialect, origin) : given;
      const held = objectIn(event, holder);
      if (!held) {
        const own = cost(recordIn(event, "usage"));
        return own === undefined
          ? event.json
          : editMembers(event, { set: { joust: JSON.stringify({ cost: own }) } });
      }
      const own = cost(recordIn(held, "usage"));
      // In Messages, this is the first event, whose usage is not final.
      const isLast = own !== undefined && dialect === "responses";
      const joust = isLast
        ? JSON.stringify({ ...JSON.parse(labels.joust), cost: own })
        : set.joust!;
      const inner = editMembers(held, { set: { ...set, joust } });
      return editMembers(event, { set: { [holder]: Buffer.from(inner).toString() } });
    });
  };
}

/** Returns a function that sets members of the answer in each event that holds it. */
export function editingAnswers(
  dialect: Named,
  set: Readonly<Record<string, string>>,
): (piece: Uint8Array) => Uint8Array {
  const holder = HOLDERS[dialect];
  return editingLines([NEEDLES[dialect]], (event) => {
    const held = objectIn(event, holder);
    if (!held) return event.json;
    const inner = Buffer.from(editMembers(held, { set })).toString();
    return editMembers(event, { set: { [holder]: inner } });
  });
}

/** Adds `joust` to the event of a message that has the final usage, or an error in its place. */
export function withNote(events: string, joust: Json): string {
  const set = { joust: JSON.stringify(joust) };
  const needles = ['"type":"message_delta"', '"type":"error"'];
  const edit = editingLines(needles, (event) => editMembers(event, { set }));
  return Buffer.from(edit(Buffer.from(events))).toString();
}

/** Returns a function that changes the lines of data that contain one of the needles. */
function editingLines(
  needles: readonly string[],
  edit: (event: Members, line: string) => Uint8Array,
): (piece: Uint8Array) => Uint8Array {
  return (piece) => {
    const bytes = view(piece);
    if (!needles.some((needle) => bytes.includes(needle))) return bytes;
    const lines = bytes.toString().split("\n");
    const edited = lines.map((line) => {
      if (!line.startsWith("data:")) return line;
      if (!needles.some((needle) => line.includes(needle))) return line;
      const event = scanned(line.slice("data:".length));
      return event ? `data: ${Buffer.from(edit(event, line)).toString().trim()}` : line;
    });
    return Buffer.from(edited.join("\n"));
  };
}

/** The object in a line of data, or undefined if it continues on another line. */
function scanned(text: string): Members | undefined {
  try {
    return scanObject(Buffer.from(text));
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function objectIn(event: Members, name: string): Members | undefined {
  const member = event.find(name);
  if (!member || event.json[member.valueStart] !== OPEN_BRACE) return undefined;
  return scanObject(event.json.subarray(member.valueStart, member.valueEnd));
}

function recordIn(event: Members, name: string): unknown {
  const value = event.value(name);
  return isRecord(value) ? value : undefined;
}

const OPEN_BRACE = 0x7b;
