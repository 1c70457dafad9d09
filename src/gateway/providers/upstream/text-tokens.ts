import { isRecord, type Members } from "../../wire/json.ts";

/** Estimated tokens of the text in an answer, or in an event of one, in any dialect. */
export function tokensIn(members: Members): number {
  const bytes = ["choices", "output", "content"].map((name) => textBytes(members.value(name)));
  return Math.ceil(bytes.reduce((a, b) => a + b) / BYTES_PER_TOKEN);
}

/**
 * Estimated tokens of the text that one event of a stream adds in one of its members. A short member, as nearly all
 * are, counts as one token and is not parsed.
 */
export function tokensAdded(event: Members, name: string): number {
  const member = event.find(name);
  if (!member) return 0;
  if (member.valueEnd - member.valueStart <= SHORT_BYTES) return 1;
  const value = event.value(name);
  const bytes = typeof value === "string" ? Buffer.byteLength(value) : textBytes(value);
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** Estimated tokens of a part of an answer that is complete. */
export function tokensOf(part: unknown): number {
  return Math.ceil(textBytes(part) / BYTES_PER_TOKEN);
}

/** Bytes of all texts in a part of an answer. */
function textBytes(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, one) => sum + textBytes(one), 0);
  if (!isRecord(part)) return 0;
  return Object.entries(part).reduce((sum, [name, value]) => {
    // Arguments of a tool in Messages.
    if (name === "input") return sum + JSON.stringify(value).length;
    if (typeof value !== "string") return sum + textBytes(value);
    return TEXTS.has(name) ? sum + Buffer.byteLength(value) : sum;
  }, 0);
}

/** Members that hold text which a model has written. */
const TEXTS: ReadonlySet<string> = new Set([
  ...["content", "text", "refusal", "arguments", "thinking", "reasoning", "reasoning_content"],
  "partial_json",
]);

const BYTES_PER_TOKEN = 4;
/** JSON of a delta up to this many bytes holds a few tokens: more than half of it are names of members. */
const SHORT_BYTES = 96;
