import { isRecord, type Json } from "../wire/json.ts";
import { isTagged, readSignature, writeTag } from "./items/reasoning.ts";

/**
 * Signatures of reasoning in answers and requests that are passed on without a translation. A
 * router may choose another model for the next request, so each signature names its model.
 */

/** Dialects that have signatures. */
type SignedDialect = "responses" | "messages";

/** Member that holds the signature, by the type of the object. */
const SIGNED: Readonly<Record<string, string>> = {
  reasoning: "encrypted_content",
  thinking: "signature",
  redacted_thinking: "data",
  signature_delta: "signature",
};

/** Bytes that an answer with signatures contains. */
export const SIGNATURE_NEEDLES: Readonly<Record<SignedDialect, readonly string[]>> = {
  responses: ['"encrypted_content"'],
  messages: ['"signature', '"redacted_thinking"'],
};

/** Names the model in all signatures of an answer, or of an event. Signatures with a name stay as they are. */
export function tagSignatures(value: unknown, dialect: SignedDialect, model: string): unknown {
  if (Array.isArray(value)) return value.map((each) => tagSignatures(each, dialect, model));
  if (!isRecord(value)) return value;
  const member = SIGNED[String(value.type)];
  const signature = member === undefined ? undefined : value[member];
  const isSigned = typeof signature === "string" && signature !== "" && !isTagged(signature);
  const tagged = isSigned && {
    [member!]: `${writeTag({ dialect, model }, value.type === "redacted_thinking")}${signature}`,
  };
  const inner = Object.entries(value).map(([name, each]) => [
    name,
    typeof each === "object" ? tagSignatures(each, dialect, model) : each,
  ]);
  return { ...Object.fromEntries(inner), ...tagged };
}

/**
 * Restores the signatures of a request for a model, and removes the reasoning of other models.
 * Anthropic refuses to think in a loop of tools that began without thinking.
 */
export function restoreSignatures(body: Json, dialect: SignedDialect, model: string): Json {
  let removed = 0;
  const restored = (value: unknown): readonly unknown[] => {
    if (!isRecord(value)) return [value];
    const member = SIGNED[String(value.type)];
    const text = member === undefined ? undefined : value[member];
    if (typeof text !== "string" || !isTagged(text)) return [value];
    const { signature, origin } = readSignature(text, dialect);
    if (origin?.dialect === dialect && origin.model === model && signature !== undefined) {
      return [{ ...value, [member!]: signature }];
    }
    removed++;
    return [];
  };
  if (dialect === "responses") {
    return Array.isArray(body.input) ? { ...body, input: body.input.flatMap(restored) } : body;
  }
  if (!Array.isArray(body.messages)) return body;
  const messages = body.messages.flatMap((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.flatMap(restored);
    return content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }];
  });
  const { thinking, ...rest } = body;
  const mayThink = removed === 0 || !isInLoop(messages);
  return { ...rest, messages, ...(mayThink && thinking !== undefined && { thinking }) };
}

/** Whether the last message has results of tools. */
function isInLoop(messages: readonly unknown[]): boolean {
  const last = messages.at(-1);
  const blocks = isRecord(last) && Array.isArray(last.content) ? last.content : [];
  return blocks.some((block) => isRecord(block) && block.type === "tool_result");
}
