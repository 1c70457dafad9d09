import type { Json } from "../../wire/json.ts";
import { effortOf, readEffort } from "../items/effort.ts";
import {
  bool,
  defined,
  extraFor,
  extraOf,
  num,
  readFormat,
  record,
  records,
  str,
  strings,
} from "../items/read.ts";
import type { ItemRequest, OutputFormat, Tool, ToolChoice } from "../items/request.ts";
import { readItems, writeItem } from "./items.ts";

/** Value of `include` that asks for probabilities. */
const LOGPROBS = "message.output_text.logprobs";
/** Value of `include` that asks for encrypted reasoning. */
export const ENCRYPTED = "reasoning.encrypted_content";
/** OpenAI's models that do not reason refuse to send encrypted reasoning. */
const WITHOUT_REASONING = /^(gpt-[34]|chatgpt)/;

/** The list `include` of a request to a model, which asks for encrypted reasoning if the model reasons. */
export function withEncrypted(include: unknown, model: string): readonly unknown[] {
  const wanted = Array.isArray(include) ? include : [];
  const isComplete = wanted.includes(ENCRYPTED) || WITHOUT_REASONING.test(model);
  return isComplete ? wanted : [...wanted, ENCRYPTED];
}

export function parseRequest(body: Json): ItemRequest {
  const text = record(body.text);
  const format = record(text?.format);
  const reasoning = record(body.reasoning);
  const include = strings(body.include);
  const others = include.filter((each) => each !== LOGPROBS);
  const tools = records(body.tools).map(readTool);
  const choice = readChoice(body.tool_choice);
  const extra = extraOf(body, choice ? KNOWN : KNOWN_BUT_CHOICE, "responses");
  return {
    model: str(body.model) ?? "",
    stream: body.stream === true,
    instructions: str(body.instructions),
    items: readItems(body.input),
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: choice,
    parallelToolCalls: bool(body.parallel_tool_calls),
    output: format && readFormat(format, format),
    verbosity: str(text?.verbosity),
    reasoning: defined({
      ...readEffort(str(reasoning?.effort)),
      summary: str(reasoning?.summary) ?? str(reasoning?.generate_summary),
    }),
    maxTokens: num(body.max_output_tokens),
    temperature: num(body.temperature),
    topP: num(body.top_p),
    logprobs: include.includes(LOGPROBS) ? (num(body.top_logprobs) ?? 0) : undefined,
    user: str(body.user),
    metadata: record(body.metadata),
    extra:
      others.length === 0
        ? extra
        : { ...extra, responses: { ...extra?.responses, include: others } },
  };
}

const KNOWN_BUT_CHOICE: ReadonlySet<string> = new Set([
  ...["model", "stream", "instructions", "input", "tools", "parallel_tool_calls", "text"],
  ...["reasoning", "max_output_tokens", "temperature", "top_p", "top_logprobs", "include", "user"],
  ...["metadata"],
]);
const KNOWN: ReadonlySet<string> = new Set([...KNOWN_BUT_CHOICE, "tool_choice"]);

function readTool(tool: Json): Tool {
  if (tool.type !== "function" && tool.type !== "custom") {
    return { type: "hosted", dialect: "responses", value: tool };
  }
  return {
    type: "function",
    name: str(tool.name) ?? "",
    description: str(tool.description),
    parameters: record(tool.parameters),
    strict: bool(tool.strict),
    custom: tool.type === "custom" ? { format: record(tool.format) } : undefined,
    extra: extraOf(tool, KNOWN_OF_TOOL, "responses"),
  };
}

const KNOWN_OF_TOOL: ReadonlySet<string> = new Set([
  ...["type", "name", "description", "parameters", "strict", "format"],
]);

/** Reads the choice of tools. The choice of a hosted tool is left to the slot `extra`. */
function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  const value = record(choice);
  const name = str(value?.name);
  if (value?.type === "allowed_tools") {
    const allowed = records(value.tools).flatMap((tool) => str(tool.name) ?? []);
    return { mode: value.mode === "required" ? "required" : "auto", allowed };
  }
  if (name === undefined || (value?.type !== "function" && value?.type !== "custom")) {
    return undefined;
  }
  return { mode: "required", name, custom: value.type === "custom" ? true : undefined };
}

export function writeRequest(request: ItemRequest): Json {
  const { reasoning, logprobs } = request;
  const { include, ...extra } = extraFor(request.extra, "responses") ?? {};
  const tools = writeTools(request);
  const wanted = [...strings(include), ...(logprobs === undefined ? [] : [LOGPROBS])];
  return {
    model: request.model,
    instructions: request.instructions,
    input: request.items.flatMap((item) => writeItem(item) ?? []),
    stream: request.stream ? true : undefined,
    tools: tools.length > 0 ? tools : undefined,
    ...writeSettings(request),
    reasoning: reasoning && defined({ effort: effortOf(reasoning), summary: summaryOf(request) }),
    top_logprobs: logprobs === 0 ? undefined : logprobs,
    include: wanted.length > 0 ? wanted : undefined,
    user: request.user,
    ...extra,
  };
}

function summaryOf({ reasoning }: ItemRequest): string | undefined {
  return reasoning?.summary === "omitted" ? undefined : reasoning?.summary;
}

/** Members that are the same in a request and in the response, which repeats them. */
export function writeSettings(request: ItemRequest): Json {
  const { output, verbosity } = request;
  return {
    tool_choice: writeChoice(request.toolChoice),
    parallel_tool_calls: request.parallelToolCalls,
    text: defined({ format: output && writeFormat(output), verbosity }),
    max_output_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    metadata: request.metadata,
  };
}

export function writeTools({ tools = [] }: ItemRequest): Json[] {
  return tools.flatMap(writeTool);
}

function writeTool(tool: Tool): Json[] {
  if (tool.type === "hosted") return tool.dialect === "responses" ? [tool.value] : [];
  // Other dialects are not strict by default, Responses are.
  const { name, description, parameters = null, strict = false, custom } = tool;
  const extra = extraFor(tool.extra, "responses");
  if (custom) return [{ type: "custom", name, description, format: custom.format, ...extra }];
  return [{ type: "function", name, description, parameters, strict, ...extra }];
}

function writeChoice(choice: ToolChoice | undefined): string | Json | undefined {
  if (!choice) return undefined;
  const { mode, name, custom, allowed } = choice;
  if (allowed) {
    const tools = allowed.map((each) => ({ type: "function", name: each }));
    return { type: "allowed_tools", mode, tools };
  }
  return name === undefined ? mode : { type: custom ? "custom" : "function", name };
}

function writeFormat(output: OutputFormat): Json {
  if (output.type !== "json_schema") return { type: output.type };
  const { schema, name = "answer", description, strict } = output;
  return { type: "json_schema", name, description, schema, strict };
}
