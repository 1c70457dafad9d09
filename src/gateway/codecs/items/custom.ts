import { isRecord, type Json } from "../../wire/json.ts";
import type { DeltaEvent, Emit, ItemEvent } from "./event.ts";
import { parseJson } from "./read.ts";
import type { FunctionTool, ItemRequest } from "./request.ts";

/**
 * Custom tools take any text as input. Where a dialect has only functions, a custom tool becomes
 * a function with one member, `input`; the answer is changed back for the client.
 */
export const CUSTOM_SCHEMA: Json = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

/** Description of the function, with the grammar that the input has to follow. */
export function customDescription({ description = "", custom }: FunctionTool): string | undefined {
  const { syntax, definition } = custom?.format ?? {};
  if (typeof definition !== "string") return description === "" ? undefined : description;
  return `${description}\n\nThe input follows this ${syntax} grammar:\n${definition}`.trimStart();
}

export function customArguments(input: string): Json {
  return { input };
}

/** Input of a custom tool in the arguments of a function. Other arguments stay as they are. */
function customInput(text: string): string {
  const value = parseJson(text);
  return isRecord(value) && typeof value.input === "string" ? value.input : text;
}

/** Names of the custom tools of a request. */
function customNames(request: ItemRequest): ReadonlySet<string> {
  const tools = request.tools ?? [];
  return new Set(
    tools.flatMap((tool) => (tool.type === "function" && tool.custom ? [tool.name] : [])),
  );
}

/**
 * Turns calls of functions back to calls of custom tools, if the client's request declares them so. The input of a
 * custom tool is passed on as a whole when the call ends.
 */
export function restoringCustomCalls(request: ItemRequest, emit: Emit): Emit {
  const names = customNames(request);
  if (names.size === 0) return emit;
  const held = new Map<string, DeltaEvent | undefined>();
  return (event: ItemEvent) => {
    if (event.type !== "item" && event.type !== "delta" && event.type !== "done") {
      emit(event);
      return;
    }
    const key = `${event.choice} ${event.index}`;
    if (event.type === "item") {
      const { item } = event;
      const isCustom = item.type === "function_call" && !item.custom && names.has(item.name);
      if (isCustom) held.set(key, undefined);
      emit(isCustom ? { ...event, item: { ...item, custom: true } } : event);
    } else if (event.type === "delta") {
      if (!held.has(key)) emit(event);
      else held.set(key, { ...event, text: (held.get(key)?.text ?? "") + event.text });
    } else {
      const delta = held.get(key);
      held.delete(key);
      if (delta) emit({ ...delta, text: customInput(delta.text) });
      emit(event);
    }
  };
}
