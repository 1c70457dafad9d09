import type { Json } from "../../wire/json.ts";
import { CUSTOM_SCHEMA, customDescription } from "../items/custom.ts";
import { isSystem, withInstructions } from "../items/group.ts";
import type { Item } from "../items/item.ts";
import {
  bool,
  defined,
  extraFor,
  extraOf,
  num,
  readCache,
  record,
  records,
  str,
  strings,
} from "../items/read.ts";
import type { FunctionTool, ItemRequest, ReasoningConfig, Tool } from "../items/request.ts";
import { readBlocks, writeCache, writeContent } from "./blocks.ts";
import { readMessages, writeMessages } from "./messages.ts";

export function parseRequest(body: Json): ItemRequest {
  const system = readBlocks(body.system);
  const config = record(body.output_config);
  const format = record(config?.format);
  const schema = format?.type === "json_schema" ? record(format.schema) : undefined;
  const choice = record(body.tool_choice);
  const single = bool(choice?.disable_parallel_tool_use);
  const mode = MODES[String(choice?.type)];
  const tools = records(body.tools).map(readTool);
  const stop = strings(body.stop_sequences);
  const items: Item[] = readMessages(body.messages);
  if (system.length > 0) items.unshift({ type: "message", role: "system", content: system });
  return {
    model: str(body.model) ?? "",
    stream: body.stream === true,
    items,
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: mode && { mode, name: str(choice?.name) },
    parallelToolCalls: single === undefined ? undefined : !single,
    output: schema && { type: "json_schema", schema },
    reasoning: defined({
      ...readThinking(record(body.thinking)),
      ...(typeof config?.effort === "string" && { effort: config.effort }),
    }),
    maxTokens: num(body.max_tokens),
    temperature: num(body.temperature),
    topP: num(body.top_p),
    topK: num(body.top_k),
    stop: stop.length > 0 ? stop : undefined,
    user: str(record(body.metadata)?.user_id),
    cache: readCache(body.cache_control),
    extra: extraOf(body, isKnownThinking(body.thinking) ? KNOWN_AND_THINKING : KNOWN, "messages"),
  };
}

const MODES = {
  auto: "auto",
  any: "required",
  tool: "required",
  none: "none",
} as const as Readonly<Record<string, "auto" | "none" | "required">>;

const KNOWN: ReadonlySet<string> = new Set([
  ...["model", "stream", "system", "messages", "tools", "tool_choice", "output_config"],
  ...["max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "cache_control"],
]);
const KNOWN_AND_THINKING: ReadonlySet<string> = new Set([...KNOWN, "thinking"]);

function isKnownThinking(thinking: unknown): boolean {
  return ["enabled", "adaptive", "disabled"].includes(String(record(thinking)?.type));
}

function readThinking(thinking: Json | undefined): ReasoningConfig {
  if (!thinking || !isKnownThinking(thinking)) return {};
  if (thinking.type === "disabled") return { enabled: false };
  const display = str(thinking.display);
  const summary = display === "summarized" ? "auto" : display;
  return { enabled: true, budget: num(thinking.budget_tokens), summary };
}

function readTool(tool: Json): Tool {
  if (tool.type !== undefined && tool.type !== null && tool.type !== "custom") {
    return { type: "hosted", dialect: "messages", value: tool };
  }
  return {
    type: "function",
    name: str(tool.name) ?? "",
    description: str(tool.description),
    parameters: record(tool.input_schema),
    strict: bool(tool.strict),
    cache: readCache(tool.cache_control),
    extra: extraOf(tool, KNOWN_OF_TOOL, "messages"),
  };
}

const KNOWN_OF_TOOL: ReadonlySet<string> = new Set([
  ...["type", "name", "description", "input_schema", "strict", "cache_control"],
]);

/** Limit of the answer for a model of Anthropic, in tokens. Messages requires a limit. */
export function longestAnswer(model: string): number {
  if (/claude-(2|instant|3-(opus|sonnet|haiku))/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 16_384;
}

export function writeRequest(request: ItemRequest): Json {
  const { stop, output, reasoning = {} } = request;
  const items = withInstructions(request.items, request.instructions);
  const system = items.flatMap((item) =>
    item.type === "message" && isSystem(item) ? item.content : [],
  );
  const schema = output?.type === "json_schema" ? output.schema : undefined;
  const effort = reasoning.effort === "minimal" ? "low" : reasoning.effort;
  const tools = request.tools?.flatMap(writeTool) ?? [];
  return {
    model: request.model,
    max_tokens: request.maxTokens ?? longestAnswer(request.model),
    system: system.length > 0 ? writeContent(system) : undefined,
    messages: writeMessages(items),
    stream: request.stream ? true : undefined,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: writeChoice(request),
    output_config: defined({ effort, format: schema && { type: "json_schema", schema } }),
    thinking: writeThinkingConfig(reasoning),
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    stop_sequences: stop,
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    ...writeCache(request.cache),
    ...extraFor(request.extra, "messages"),
  };
}

function writeThinkingConfig({ enabled, budget, summary }: ReasoningConfig): Json | undefined {
  if (enabled === undefined) return undefined;
  if (!enabled) return { type: "disabled" };
  const display = summary === undefined || summary === "omitted" ? summary : "summarized";
  if (budget === undefined) return { type: "adaptive", display };
  return { type: "enabled", budget_tokens: budget, display };
}

function writeTool(tool: Tool): Json[] {
  if (tool.type === "hosted") return tool.dialect === "messages" ? [tool.value] : [];
  return [
    {
      name: tool.name,
      description: tool.custom ? customDescription(tool) : tool.description,
      input_schema: tool.custom ? CUSTOM_SCHEMA : schemaOf(tool),
      strict: tool.strict,
      ...writeCache(tool.cache),
      ...extraFor(tool.extra, "messages"),
    },
  ];
}

function schemaOf({ parameters }: FunctionTool): Json {
  return parameters ?? { type: "object" };
}

/** Writes the choice of tools, which also says whether calls may be parallel. */
function writeChoice({ toolChoice, parallelToolCalls }: ItemRequest): Json | undefined {
  if (!toolChoice && parallelToolCalls !== false) return undefined;
  const { mode = "auto", name } = toolChoice ?? {};
  if (mode === "none") return { type: "none" };
  const single = parallelToolCalls === undefined ? undefined : !parallelToolCalls;
  const type = mode === "auto" ? "auto" : name === undefined ? "any" : "tool";
  return { type, name, disable_parallel_tool_use: single };
}
