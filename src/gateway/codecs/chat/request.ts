import type { Json } from "../../wire/json.ts";
import { effortOf, readEffort } from "../items/effort.ts";
import { withInstructions } from "../items/group.ts";
import {
  bool,
  defined,
  extraFor,
  extraOf,
  num,
  readCache,
  readFormat,
  record,
  records,
  str,
  strings,
} from "../items/read.ts";
import type { ItemRequest, OutputFormat } from "../items/request.ts";
import { readMessages, writeMessages } from "./messages.ts";
import { readChoice, readTools, writeChoice, writeTools } from "./tools.ts";

export function parseRequest(body: Json): ItemRequest {
  const format = record(body.response_format);
  const thinking = record(body.thinking);
  const budget = num(thinking?.budget_tokens);
  const stop = typeof body.stop === "string" ? [body.stop] : strings(body.stop);
  const tools = [...readTools(body.tools), ...readTools(legacyTools(body.functions))];
  return {
    model: str(body.model) ?? "",
    stream: body.stream === true,
    items: readMessages(body.messages),
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: readChoice(body.tool_choice ?? body.function_call),
    parallelToolCalls: bool(body.parallel_tool_calls),
    output: format && readFormat(format, record(format.json_schema)),
    verbosity: str(body.verbosity),
    reasoning: defined({
      ...readEffort(str(body.reasoning_effort)),
      ...(thinking && { enabled: thinking.type !== "disabled", budget }),
    }),
    maxTokens: num(body.max_completion_tokens) ?? num(body.max_tokens),
    temperature: num(body.temperature),
    topP: num(body.top_p),
    topK: num(body.top_k),
    seed: num(body.seed),
    frequencyPenalty: num(body.frequency_penalty),
    presencePenalty: num(body.presence_penalty),
    stop: stop.length > 0 ? stop : undefined,
    choices: num(body.n),
    logprobs: body.logprobs === true ? (num(body.top_logprobs) ?? 0) : undefined,
    legacyFunctions: Array.isArray(body.functions) ? true : undefined,
    includeUsage: bool(record(body.stream_options)?.include_usage),
    user: str(body.user),
    metadata: record(body.metadata),
    cache: readCache(body.cache_control),
    extra: extraOf(body, KNOWN, "chat"),
  };
}

function legacyTools(functions: unknown): Json[] {
  return records(functions).map((called) => ({ type: "function", function: called }));
}

/** Members of a request that the internal form has a place for. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["model", "stream", "messages", "tools", "functions", "tool_choice", "function_call"],
  ...["parallel_tool_calls", "response_format", "verbosity", "reasoning_effort", "thinking"],
  ...["max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k", "seed", "stop", "n"],
  ...["frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "stream_options"],
  ...["user", "metadata", "cache_control"],
]);

export function writeRequest(request: ItemRequest): Json {
  const { output, logprobs, includeUsage, stop } = request;
  return {
    model: request.model,
    messages: writeMessages(withInstructions(request.items, request.instructions)),
    stream: request.stream ? true : undefined,
    stream_options: includeUsage === undefined ? undefined : { include_usage: includeUsage },
    tools: writeTools(request.tools),
    tool_choice: writeChoice(request.toolChoice),
    parallel_tool_calls: request.parallelToolCalls,
    response_format: output && writeFormat(output),
    verbosity: request.verbosity,
    reasoning_effort: request.reasoning && effortOf(request.reasoning),
    max_completion_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop,
    n: request.choices,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
    user: request.user,
    metadata: request.metadata,
    ...extraFor(request.extra, "chat"),
  };
}

function writeFormat(output: OutputFormat): Json {
  if (output.type !== "json_schema") return { type: output.type };
  const { schema, name = "answer", description, strict } = output;
  return { type: "json_schema", json_schema: { name, description, schema, strict } };
}
