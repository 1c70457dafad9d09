import { infiniteField } from "../../wire/infinite.ts";
import { type Json, JsonError, scanObject } from "../../wire/json.ts";
import { customArguments } from "../items/custom.ts";
import { isSystem, outputsFirst } from "../items/group.ts";
import type { FunctionCallItem, Item, MessageItem, ReasoningItem } from "../items/item.ts";
import {
  bool,
  extraFor,
  extraOf,
  hasContent,
  parseJson,
  plainText,
  readCache,
  record,
  records,
  str,
} from "../items/read.ts";
import { readSignature, writeSignature } from "../items/reasoning.ts";
import { acceptedId } from "../items/tool-names.ts";
import { readBlock, readBlocks, writeBlock, writeCache, writeContent } from "./blocks.ts";

/** Reads the messages of a request. */
export function readMessages(messages: unknown): Item[] {
  return records(messages).flatMap((message) => {
    const role = message.role === "assistant" || message.role === "system" ? message.role : "user";
    if (typeof message.content === "string") {
      return [{ type: "message", role, content: readBlocks(message.content) }] as Item[];
    }
    return readItems(records(message.content), role);
  });
}

/** Reads blocks as items. Texts and media that follow each other are one message. */
export function readItems(
  blocks: readonly Json[],
  role: MessageItem["role"],
  model?: string,
): Item[] {
  const items: Item[] = [];
  let parts: MessageItem["content"][number][] | undefined;
  for (const block of blocks) {
    const item = readItem(block, role, model);
    if (item) {
      items.push(item);
      parts = undefined;
    } else {
      const part = readBlock(block);
      if (!hasContent(part)) continue;
      if (!parts) {
        parts = [];
        items.push({ type: "message", role, content: parts });
      }
      parts.push(part);
    }
  }
  return items;
}

/** Reads a block that is an item of its own, or undefined if it is part of a message. */
export function readItem(block: Json, role: MessageItem["role"], model?: string): Item | undefined {
  switch (block.type) {
    case "thinking":
    case "redacted_thinking":
      return readThinking(block, model);
    case "tool_use":
      return {
        type: "function_call",
        callId: str(block.id) ?? "",
        name: str(block.name) ?? "",
        arguments: JSON.stringify(block.input ?? {}),
        cache: readCache(block.cache_control),
        extra: extraOf(block, KNOWN_OF_CALL, "messages"),
      };
    case "tool_result":
      return {
        type: "function_call_output",
        callId: str(block.tool_use_id) ?? "",
        output: readBlocks(block.content),
        isError: bool(block.is_error),
        cache: readCache(block.cache_control),
        extra: extraOf(block, KNOWN_OF_RESULT, "messages"),
      };
  }
  const isPart = role !== "assistant" || PARTS.has(String(block.type));
  return isPart ? undefined : { type: "hosted", dialect: "messages", value: block };
}

const PARTS: ReadonlySet<string> = new Set(["text", "image", "document", "search_result"]);
const KNOWN_OF_CALL: ReadonlySet<string> = new Set([
  "type",
  "id",
  "name",
  "input",
  "cache_control",
]);
const KNOWN_OF_RESULT: ReadonlySet<string> = new Set([
  ...["type", "tool_use_id", "content", "is_error", "cache_control"],
]);

function readThinking(block: Json, model?: string): ReasoningItem {
  const isRedacted = block.type === "redacted_thinking";
  const thinking = isRedacted ? "" : (str(block.thinking) ?? "");
  const text = str(isRedacted ? block.data : block.signature) ?? "";
  return {
    type: "reasoning",
    summary: thinking === "" ? [] : [thinking],
    text: [],
    ...(isRedacted && { redacted: true }),
    ...readSignature(text, "messages", model),
  };
}

/** Writes the blocks of one item. */
export function writeItem(item: Item): Json[] {
  switch (item.type) {
    case "message":
      return item.content.flatMap(writeBlock);
    case "reasoning":
      return [writeThinking(item)];
    case "function_call":
      return [{ ...writeCall(item), input: inputOf(item) }];
    case "function_call_output":
      return [
        {
          type: "tool_result",
          tool_use_id: acceptedId(item.callId),
          content: item.output.length > 0 ? writeContent(item.output) : undefined,
          is_error: item.isError,
          ...writeCache(item.cache),
          ...extraFor(item.extra, "messages"),
        },
      ];
    case "hosted":
      return item.dialect === "messages" ? [item.value] : [];
  }
}

export function writeThinking(item: ReasoningItem): Json {
  const thinking = [...item.text, ...item.summary].join("\n\n");
  const signature = writeSignature(item, "messages");
  return item.redacted && item.origin?.dialect === "messages"
    ? { type: "redacted_thinking", data: signature }
    : { type: "thinking", thinking, signature };
}

export function writeCall(item: FunctionCallItem): Json {
  const { name } = item;
  const id = acceptedId(item.callId);
  const slots = { ...writeCache(item.cache), ...extraFor(item.extra, "messages") };
  return { type: "tool_use", id, name, input: {}, ...slots };
}

/** Arguments as an object. Text that is not a JSON object, or cannot be written as one, becomes the member `input`. */
function inputOf(item: FunctionCallItem): Json {
  const { custom, arguments: text } = item;
  if (!custom && text.trim() === "") return {};
  const input = custom || !isObject(text) ? undefined : record(parseJson(text));
  return input && infiniteField(input) === undefined ? input : customArguments(text);
}

/** Whether a text is a JSON object that is not nested too deeply to be written again. */
function isObject(text: string): boolean {
  try {
    scanObject(Buffer.from(text));
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/**
 * Writes items as messages. Consecutive items of the model become one message. Outputs of
 * calls and the message of the user after them also become one, with the outputs first, as
 * Anthropic requires.
 */
export function writeMessages(items: readonly Item[]): Json[] {
  const messages: { role: string; content: Json[]; last: Item }[] = [];
  const written = items.filter((item) => !isSystem(item) && writeItem(item).length > 0);
  for (const item of outputsFirst(written)) {
    const content = writeItem(item);
    const isUser =
      item.type === "function_call_output" || (item.type === "message" && item.role === "user");
    const role = isUser ? "user" : "assistant";
    const open = messages.at(-1);
    if (open?.role === role && !(item.type === "message" && open.last.type === "message")) {
      open.content.push(...content);
      open.last = item;
    } else messages.push({ role, content, last: item });
  }
  return messages.map(({ role, content, last }) => {
    return { role, content: (last.type === "message" && plainText(content)) || content };
  });
}
