import type { Json } from "../../wire/json.ts";
import type { Item, ReasoningItem } from "../items/item.ts";
import { extraFor, extraOf, plainText, readRole, records, str } from "../items/read.ts";
import { originOf, readSignature, writeSignature } from "../items/reasoning.ts";
import { readContent, writeParts } from "./parts.ts";

/** Reads the input of a request or the output of an answer. */
export function readItems(items: unknown, model?: string): Item[] {
  if (typeof items === "string") {
    return [{ type: "message", role: "user", content: readContent(items) }];
  }
  return records(items).map((item) => readItem(item, model));
}

export function readItem(item: Json, model?: string): Item {
  const id = str(item.id);
  const callId = str(item.call_id) ?? "";
  const extra = extraOf(item, KNOWN, "responses");
  switch (item.type ?? "message") {
    case "message": {
      const role = readRole(item.role);
      return { type: "message", id, role, content: readContent(item.content), extra };
    }
    case "reasoning":
      return readReasoning(item, model);
    case "function_call":
    case "custom_tool_call": {
      const custom = item.type === "custom_tool_call" ? true : undefined;
      const text = str(custom ? item.input : item.arguments) ?? "";
      const name = str(item.name) ?? "";
      return { type: "function_call", id, callId, name, arguments: text, custom, extra };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const custom = item.type === "custom_tool_call_output" ? true : undefined;
      const output = readContent(item.output);
      return { type: "function_call_output", id, callId, output, custom, extra };
    }
  }
  return { type: "hosted", dialect: "responses", value: item };
}

function readReasoning(item: Json, model?: string): ReasoningItem {
  const id = str(item.id);
  const signed = readSignature(str(item.encrypted_content) ?? "", "responses", model);
  // If the item has no encrypted content, the provider may still find it by its id.
  const known = signed.origin ?? (id === undefined ? undefined : originOf("responses", model));
  return {
    type: "reasoning",
    id,
    summary: texts(item.summary),
    text: texts(item.content),
    ...signed,
    origin: known,
  };
}

function texts(parts: unknown): string[] {
  return records(parts).flatMap((part) => str(part.text) ?? []);
}

const KNOWN: ReadonlySet<string> = new Set([
  ...["type", "id", "role", "content", "status", "call_id", "name", "arguments", "input", "output"],
]);

/** Writes an item of the input. */
export function writeItem(item: Item): Json | undefined {
  switch (item.type) {
    case "hosted":
      return item.dialect === "responses" ? item.value : undefined;
    case "reasoning":
      return writeReasoning(item);
    case "message": {
      const { id, role } = item;
      const content = writeParts(item.content, role);
      if (content.length === 0) return undefined;
      return { type: "message", id, role, content, ...extraFor(item.extra, "responses") };
    }
    case "function_call":
      return { ...writeCall(item), ...extraFor(item.extra, "responses") };
    case "function_call_output": {
      const { id, callId, custom } = item;
      const output = writeParts(item.output, "user");
      return {
        type: custom ? "custom_tool_call_output" : "function_call_output",
        id,
        call_id: callId,
        output: output.length === 0 ? "" : (plainText(output) ?? output),
        ...extraFor(item.extra, "responses"),
      };
    }
  }
}

export function writeCall(item: Extract<Item, { type: "function_call" }>): Json {
  const { id, callId: call_id, name } = item;
  return item.custom
    ? { type: "custom_tool_call", id, call_id, name, input: item.arguments }
    : { type: "function_call", id, call_id, name, arguments: item.arguments };
}

export function writeReasoning(item: ReasoningItem): Json {
  const signature = writeSignature(item, "responses");
  return {
    type: "reasoning",
    id: item.id,
    summary: item.summary.map((text) => ({ type: "summary_text", text })),
    content: item.text.length > 0 ? item.text.map(reasoningText) : undefined,
    encrypted_content: signature === "" ? undefined : signature,
  };
}

export function reasoningText(text: string): Json {
  return { type: "reasoning_text", text };
}
