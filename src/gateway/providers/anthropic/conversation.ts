import { isRecord, type Json } from "../../wire/json-value.ts";
import { blocksOf } from "./content.ts";
import { Unsupported } from "./unsupported.ts";

/** A message in Anthropic's format. */
interface Message {
  readonly role: "user" | "assistant";
  readonly content: Json[];
}

/** Translates messages: system messages are separate, and the others alternate between roles. */
export function conversationOf(messages: unknown): { system: Json[]; messages: Message[] } {
  if (!Array.isArray(messages)) throw new Unsupported("messages is not a list");
  const system: Json[] = [];
  const others: Message[] = [];
  const add = (role: Message["role"], blocks: Json[]) => {
    const last = others.at(-1);
    if (blocks.length === 0) return;
    if (last?.role === role) last.content.push(...blocks);
    else others.push({ role, content: blocks });
  };
  for (const [i, message] of messages.entries()) {
    const field = `messages[${i}]`;
    if (!isRecord(message)) throw new Unsupported(`${field} is not an object`);
    const content = () => blocksOf(message.content, `${field}.content`);
    switch (message.role) {
      case "system":
      case "developer":
        system.push(...content());
        break;
      case "user":
        add("user", content());
        break;
      case "assistant":
        add("assistant", [...content(), ...callsOf(message, field)]);
        break;
      case "tool":
      case "function":
        // Results belong to the user. All results of one message of calls are one message.
        add("user", [resultOf(message, content(), field)]);
        break;
      default:
        throw new Unsupported(`${field}.role is ${JSON.stringify(message.role)}`);
    }
  }
  return { system, messages: acceptable(others) };
}

/** Calls of tools, or the call in the older member function_call. */
function callsOf(message: Json, field: string): Json[] {
  const { tool_calls: calls, function_call: old } = message;
  if (isRecord(old)) return [callOf(old, oldId(old), `${field}.function_call`)];
  if (!Array.isArray(calls)) return [];
  return calls.map((call, i) => {
    const place = `${field}.tool_calls[${i}]`;
    const called = isRecord(call) ? call.function : undefined;
    if (!isRecord(called)) throw new Unsupported(`${place} is not the call of a function`);
    return callOf(called, String(call.id), place);
  });
}

function callOf(called: Json, id: string, place: string): Json {
  const text = called.arguments;
  let input: unknown;
  try {
    input = typeof text === "string" && text.trim() !== "" ? JSON.parse(text) : {};
  } catch {
    throw new Unsupported(`${place}.arguments is not JSON`);
  }
  return { type: "tool_use", id, name: called.name, input };
}

function resultOf(message: Json, content: Json[], field: string): Json {
  const id = message.role === "function" ? oldId(message) : message.tool_call_id;
  if (typeof id !== "string") throw new Unsupported(`${field}.tool_call_id is missing`);
  return { type: "tool_result", tool_use_id: id, content };
}

/** Id for a call of the older format, which identified calls by the function's name. */
function oldId(called: Json): string {
  return `call_${called.name}`;
}

/**
 * Meets Anthropic's requirements: the user begins, results of tools come first in a message, and
 * a last message of the assistant does not end in white space.
 */
function acceptable(messages: readonly Message[]): Message[] {
  const out = messages.map(({ role, content }) => ({
    role,
    content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))],
  }));
  if (out[0]?.role === "assistant") {
    out.unshift({ role: "user", content: [{ type: "text", text: "." }] });
  }
  const last = out.at(-1);
  const end = last?.content.at(-1);
  if (last?.role === "assistant" && end?.type === "text") {
    last.content[last.content.length - 1] = { ...end, text: String(end.text).trimEnd() };
  }
  return out;
}

function isResult(block: Json): boolean {
  return block.type === "tool_result";
}
