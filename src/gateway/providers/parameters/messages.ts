import { isRecord, type Json } from "../../wire/json.ts";
import type { Adaptation } from "../upstream/upstream.ts";
import type { ParameterRules } from "./rules.ts";

interface AdaptedMessages {
  readonly messages: readonly unknown[];
  readonly adapted: readonly Adaptation[];
}

/** Changes the messages of a chat request by the rules. */
export function adaptMessages(
  messages: readonly unknown[],
  rules: ParameterRules,
): AdaptedMessages {
  const { noDeveloper = false, signsCalls = false, dropFromMessages = [] } = rules;
  const adapted = new Map<string, Adaptation>();
  const note = (change: Adaptation) => adapted.set(change.param, change);
  const changed = messages.map((message) => {
    if (!isRecord(message)) return message;
    let own = message;
    if (noDeveloper && message.role === "developer") {
      own = { ...own, role: "system" };
      note({ param: "messages.role", change: "renamed", to: "system" });
    }
    if (signsCalls && Array.isArray(message.tool_calls) && !message.tool_calls.some(isSigned)) {
      const [first, ...others] = message.tool_calls;
      own = { ...own, tool_calls: [{ ...first, extra_content: UNSIGNED }, ...others] };
      note({ param: "messages.tool_calls.extra_content", change: "added" });
    }
    for (const name of dropFromMessages) {
      if (!Object.hasOwn(own, name)) continue;
      own = Object.fromEntries(Object.entries(own).filter(([key]) => key !== name));
      note({ param: `messages.${name}`, change: "dropped" });
    }
    return own;
  });
  return { messages: changed, adapted: [...adapted.values()] };
}

/** Whether a call has a signature of Google. */
function isSigned(call: unknown): boolean {
  const extra = isRecord(call) ? call.extra_content : undefined;
  const google = isRecord(extra) ? extra.google : undefined;
  return isRecord(google) && typeof google.thought_signature === "string";
}

/** Google's own mark for a call that its model has not made, or whose signature is lost. */
const UNSIGNED = { google: { thought_signature: "skip_thought_signature_validator" } };

/** Instructions that replace an output schema. */
export function schemaInstructions(format: Json): string {
  const schema = isRecord(format.json_schema) ? format.json_schema.schema : undefined;
  const form = schema === undefined ? "" : `, by this JSON schema: ${JSON.stringify(schema)}`;
  return `When you call no tool, answer with one JSON object and nothing else${form}`;
}

/** Adds instructions to the system message, or puts a system message before all others. */
export function withInstructions(messages: readonly unknown[], text: string): unknown[] {
  const [first, ...rest] = messages;
  if (!isRecord(first) || (first.role !== "system" && first.role !== "developer")) {
    return [{ role: "system", content: text }, ...messages];
  }
  const content = Array.isArray(first.content)
    ? [...first.content, { type: "text", text }]
    : `${first.content ?? ""}\n\n${text}`;
  return [{ ...first, content }, ...rest];
}
