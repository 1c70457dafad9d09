import { isRecord, type Json } from "../../wire/json.ts";

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

/** Translates the content of a message to Anthropic's blocks. Empty texts, which it refuses, are left out. */
function blocksOf(content: unknown, field: string): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) {
    throw new Unsupported(`${field} is neither text nor a list of parts`);
  }
  return content.flatMap((part, i) => {
    const place = `${field}[${i}]`;
    if (!isRecord(part)) throw new Unsupported(`${place} is not an object`);
    const block = blockOf(part, place);
    if (!block) return [];
    // Marks for the prompt cache are passed on.
    return [part.cache_control ? { ...block, cache_control: part.cache_control } : block];
  });
}

function blockOf(part: Json, place: string): Json | undefined {
  switch (part.type) {
    case "text":
    case "refusal": {
      const text = String(part.text ?? part.refusal ?? "");
      return text === "" ? undefined : { type: "text", text };
    }
    case "image_url": {
      const image = part.image_url;
      const url = isRecord(image) ? image.url : image;
      if (typeof url !== "string") throw new Unsupported(`${place}.image_url has no url`);
      return { type: "image", source: sourceOf(url) };
    }
    case "file": {
      const file = isRecord(part.file) ? part.file : {};
      if (typeof file.file_data !== "string") {
        throw new Unsupported(
          `${place}.file has no file_data, and a file id of another host is not known here`,
        );
      }
      return { type: "document", source: sourceOf(file.file_data) };
    }
    // Anthropic's own types are passed on.
    case "image":
    case "document":
      return part;
    default:
      throw new Unsupported(`${place} is of type ${JSON.stringify(part.type)}`);
  }
}

/** Source of a data URL (data:image/png;base64,...) or of the address of an image. */
function sourceOf(url: string): Json {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  if (comma < 0) return { type: "url", url };
  const [mediaType = "", ...rest] = url.slice("data:".length, comma).split(";");
  if (!rest.includes("base64")) throw new Unsupported("a data URL is not in base64");
  return { type: "base64", media_type: mediaType, data: url.slice(comma + 1) };
}

/** A request that cannot be translated to Anthropic's API. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
