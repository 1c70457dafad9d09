import { isRecord, type Members } from "../../wire/json.ts";

/** Estimated tokens of the text in an answer, or in an event of one, in any dialect. */
export function tokensIn(members: Members): number {
  const bytes = ["choices", "output", "content"].map((name) => textBytes(members.value(name)));
  return Math.ceil(bytes.reduce((a, b) => a + b) / BYTES_PER_TOKEN);
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
]);

const BYTES_PER_TOKEN = 4;
