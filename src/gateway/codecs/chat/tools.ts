import type { Json } from "../../wire/json.ts";
import { bool, extraFor, extraOf, readCache, record, records, str } from "../items/read.ts";
import type { Tool, ToolChoice } from "../items/request.ts";

export function readTools(tools: unknown): Tool[] {
  return records(tools).map((tool) => {
    const custom = tool.type === "custom" ? record(tool.custom) : undefined;
    const called = custom ?? (tool.type === "function" ? record(tool.function) : undefined);
    if (!called) {
      // Anthropic's tools, which chat clients may declare for its models, have a date in their type.
      const dialect = /_\d{8}$/.test(String(tool.type)) ? "messages" : "chat";
      return { type: "hosted", dialect, value: tool };
    }
    return {
      type: "function",
      name: str(called.name) ?? "",
      description: str(called.description),
      parameters: record(called.parameters),
      strict: bool(called.strict),
      custom: custom && { format: readFormat(record(custom.format)) },
      cache: readCache(tool.cache_control),
      extra: extraOf(tool, KNOWN, "chat"),
    };
  });
}

const KNOWN: ReadonlySet<string> = new Set(["type", "function", "custom", "cache_control"]);

/** The grammar of a custom tool is nested here and flat in Responses. */
function readFormat(format: Json | undefined): Json | undefined {
  const grammar = record(format?.grammar);
  return grammar ? { type: format!.type, ...grammar } : format;
}

function writeFormat(format: Json | undefined): Json | undefined {
  if (format?.type !== "grammar") return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

export function writeTools(tools: readonly Tool[] | undefined): Json[] | undefined {
  const written = tools?.flatMap((tool): Json[] => {
    if (tool.type === "hosted") return tool.dialect === "chat" ? [tool.value] : [];
    const { name, description, parameters, strict, custom } = tool;
    const extra = extraFor(tool.extra, "chat");
    if (custom) {
      const format = writeFormat(custom.format);
      return [{ type: "custom", custom: { name, description, format }, ...extra }];
    }
    return [{ type: "function", function: { name, description, parameters, strict }, ...extra }];
  });
  return written && written.length > 0 ? written : undefined;
}

export function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  const value = record(choice);
  if (!value) return undefined;
  const allowed = record(value.allowed_tools);
  if (allowed) {
    const names = records(allowed.tools).flatMap((tool) => str(record(tool.function)?.name) ?? []);
    return { mode: allowed.mode === "required" ? "required" : "auto", allowed: names };
  }
  const custom = record(value.custom);
  const name = str((custom ?? record(value.function) ?? value).name);
  return name === undefined
    ? undefined
    : { mode: "required", name, custom: custom ? true : undefined };
}

export function writeChoice(choice: ToolChoice | undefined): string | Json | undefined {
  if (!choice) return undefined;
  const { mode, name, custom, allowed } = choice;
  if (allowed) {
    const tools = allowed.map((each) => ({ type: "function", function: { name: each } }));
    return { type: "allowed_tools", allowed_tools: { mode, tools } };
  }
  if (name === undefined) return mode;
  return custom ? { type: "custom", custom: { name } } : { type: "function", function: { name } };
}
