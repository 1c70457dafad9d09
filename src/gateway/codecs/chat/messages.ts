import type { Json } from "../../wire/json.ts";
import { outputsFirst } from "../items/group.ts";
import type { FunctionCallItem, Item, Part } from "../items/item.ts";
import { extraFor, extraOf, readRole, record, records, str } from "../items/read.ts";
import { originOf } from "../items/reasoning.ts";
import { isWritable, readContent, readThinking, writeContent } from "./parts.ts";

/** Reads the messages of a request. */
export function readMessages(messages: unknown): Item[] {
  return records(messages).flatMap(readMessage);
}

function readMessage(message: Json): Item[] {
  const content = readContent(message.content);
  const extra = extraOf(message, KNOWN, "chat");
  if (message.role === "tool") {
    const callId = str(message.tool_call_id) ?? "";
    return [{ type: "function_call_output", callId, output: content, extra }];
  }
  if (message.role === "function") {
    const callId = legacyId(message.name);
    return [{ type: "function_call_output", callId, output: content }];
  }
  const role = readRole(message.role);
  if (role !== "assistant") return [{ type: "message", role, content, extra }];
  const items = readAssistant(message, content);
  return items.map((item) => (item.type === "message" ? { ...item, extra } : item));
}

/** Reads reasoning, content and calls of a message of the assistant. */
export function readAssistant(message: Json, content: readonly Part[], model?: string): Item[] {
  const items: Item[] = [];
  const reasoning =
    str(message.reasoning_content) ?? str(message.reasoning) ?? readThinking(message.content);
  if (reasoning) {
    const origin = originOf("chat", model);
    items.push({ type: "reasoning", summary: [], text: [reasoning], origin });
  }
  const refusal = str(message.refusal);
  const parts = refusal ? [...content, { type: "refusal", text: refusal } as const] : content;
  if (parts.length > 0) items.push({ type: "message", role: "assistant", content: parts });
  items.push(...records(message.tool_calls).map(readCall));
  const legacy = record(message.function_call);
  if (legacy) items.push({ ...readCall({ function: legacy }), callId: legacyId(legacy.name) });
  return items;
}

export function readCall(call: Json): FunctionCallItem {
  const custom = record(call.custom);
  const called = custom ?? record(call.function) ?? {};
  return {
    type: "function_call",
    callId: str(call.id) ?? "",
    name: str(called.name) ?? "",
    arguments: str(custom ? called.input : called.arguments) ?? "",
    custom: custom ? true : undefined,
    extra: extraOf(call, KNOWN_OF_CALL, "chat"),
  };
}

/** Id of a call in the older format, which identified calls by the function's name. */
export function legacyId(name: unknown): string {
  return `call_${name}`;
}

const KNOWN: ReadonlySet<string> = new Set([
  "role",
  "content",
  "tool_call_id",
  "tool_calls",
  "function_call",
  "refusal",
  "reasoning_content",
  "reasoning",
]);
const KNOWN_OF_CALL: ReadonlySet<string> = new Set(["id", "index", "type", "function", "custom"]);

/**
 * Writes items as messages. Reasoning, content and calls that follow each other become one
 * message of the assistant. Media in the output of a call, which a tool message cannot hold, go
 * into a message of the user after it.
 */
export function writeMessages(items: readonly Item[]): Json[] {
  const messages: Json[] = [];
  let group: AssistantGroup | undefined;
  let media: Part[] = [];
  const flush = () => {
    if (group) messages.push(group.write());
    group = undefined;
    if (media.length > 0) messages.push({ role: "user", content: writeContent(media) });
    media = [];
  };
  for (const item of outputsFirst(items.filter(isWritten))) {
    if (item.type === "function_call_output") {
      if (group) flush();
      const { output, callId, extra } = item;
      media.push(...output.filter((part) => isMedia(part) && isWritable(part)));
      const content = writeContent(output.filter((part) => !isMedia(part)));
      const text = content.length === 0 ? "" : content;
      messages.push({
        role: "tool",
        tool_call_id: callId,
        content: text,
        ...extraFor(extra, "chat"),
      });
    } else if (item.type === "message" && item.role !== "assistant") {
      flush();
      const { role, content, extra } = item;
      messages.push({ role, content: writeContent(content), ...extraFor(extra, "chat") });
    } else {
      if (!group?.accepts(item)) flush();
      group ??= new AssistantGroup();
      group.add(item);
    }
  }
  flush();
  return messages;
}

/** Whether chat has a place for the item. */
function isWritten(item: Item): boolean {
  if (item.type === "message") return item.content.some(isWritable);
  if (item.type === "reasoning") return item.text.length + item.summary.length > 0;
  return item.type !== "hosted";
}

function isMedia(part: Part): boolean {
  if (part.type === "document") return part.source.type !== "text";
  return part.type === "image" || part.type === "audio";
}

/** Items that make up one message of the assistant. */
class AssistantGroup {
  readonly #reasoning: string[] = [];
  readonly #content: Part[] = [];
  readonly #calls: Json[] = [];
  #hasMessage = false;
  #extra: Json | undefined;

  /** A message cannot follow the calls of another one before their outputs, so it is merged. */
  accepts(item: Item): boolean {
    return this.#calls.length > 0 || item.type === "function_call" || !this.#hasMessage;
  }

  add(item: Item): void {
    if (item.type === "reasoning") this.#reasoning.push(...item.text, ...item.summary);
    else if (item.type === "message") {
      this.#content.push(...item.content);
      this.#hasMessage = true;
    } else if (item.type === "function_call") this.#calls.push(writeCall(item));
    if (item.type === "message") this.#extra ??= extraFor(item.extra, "chat");
  }

  write(): Json {
    return {
      role: "assistant",
      content: this.#content.length > 0 ? writeContent(this.#content) : null,
      reasoning_content: this.#reasoning.length > 0 ? this.#reasoning.join("\n\n") : undefined,
      tool_calls: this.#calls.length > 0 ? this.#calls : undefined,
      ...this.#extra,
    };
  }
}

export function writeCall(item: FunctionCallItem): Json {
  const { callId: id, name } = item;
  const extra = extraFor(item.extra, "chat");
  return item.custom
    ? { id, type: "custom", custom: { name, input: item.arguments }, ...extra }
    : { id, type: "function", function: { name, arguments: item.arguments }, ...extra };
}
