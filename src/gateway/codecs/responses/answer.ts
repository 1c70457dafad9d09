import { isRecord, type Json } from "../../wire/json.ts";
import {
  type Answer,
  type AnswerError,
  impliedStop,
  type Stop,
  type Usage,
} from "../items/answer.ts";
import { effortOf } from "../items/effort.ts";
import type { Item, MessageItem } from "../items/item.ts";
import { compact, count, dollars, extraFor, extraOf, num, record, str } from "../items/read.ts";
import type { ItemRequest } from "../items/request.ts";
import { readItems, writeCall, writeItem, writeReasoning } from "./items.ts";
import { writeParts } from "./parts.ts";
import { writeSettings, writeTools } from "./request.ts";

export function parseAnswer(body: Json): Answer {
  const model = str(body.model) ?? "";
  const items = readItems(body.output ?? [], model);
  const error = record(body.error);
  return {
    id: str(body.id) ?? "",
    model,
    created: num(body.created_at) || undefined,
    choices: [{ items, stop: readStop(body, items) }],
    usage: readUsage(body.usage),
    error: error && { message: str(error.message) ?? "", code: str(error.code) },
    extra: extraOf(body, KNOWN, "responses"),
  };
}

/** Members of a response that the internal form has a place for, or that repeat the request. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["id", "object", "created_at", "completed_at", "status", "error", "incomplete_details"],
  ...["model", "output", "output_text", "usage", "instructions", "metadata", "tools"],
  ...["parallel_tool_calls", "temperature", "top_p", "tool_choice", "text", "reasoning", "user"],
  ...["truncation", "max_output_tokens", "max_tool_calls", "previous_response_id", "background"],
  ...["store", "service_tier", "top_logprobs", "presence_penalty", "frequency_penalty"],
  ...["safety_identifier", "prompt_cache_key"],
]);

/** Reads why the answer ended. The Responses API has no stop reason for tool calls, so they are found in the items. */
export function readStop(body: Json, items: readonly Item[]): Stop {
  if (body.status !== "incomplete") return impliedStop(items);
  const filtered = record(body.incomplete_details)?.reason === "content_filter";
  return { reason: filtered ? "content_filter" : "length" };
}

const INCOMPLETE: Readonly<Partial<Record<Stop["reason"], string>>> = {
  length: "max_output_tokens",
  context_length: "max_output_tokens",
  content_filter: "content_filter",
};

export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const promptTokens = count(value.input_tokens);
  const input = record(value.input_tokens_details);
  const cachedTokens = Math.min(promptTokens, count(input?.cached_tokens));
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(promptTokens - cachedTokens, count(input?.cache_write_tokens)),
    cacheWrite1hTokens: 0,
    completionTokens: count(value.output_tokens),
    reasoningTokens: count(record(value.output_tokens_details)?.reasoning_tokens),
    cost: dollars(value.cost),
  };
}

export function writeUsage(usage: Usage): Json {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...(usage.cost !== undefined && { cost: usage.cost }),
  };
}

export function writeAnswer(answer: Answer, request?: ItemRequest): Json {
  const { stop = { reason: "end" } as const, items = [] } = answer.choices[0] ?? {};
  const output = items
    .map((item, index) => writeOutput(item, answer.id, index))
    .filter((item) => item !== undefined);
  return {
    ...writeResponse(answer, request, answer.error ? "failed" : statusOf(stop), output),
    incomplete_details: incompleteDetails(stop),
    error: answer.error ? writeError(answer.error) : null,
    usage: answer.usage ? writeUsage(answer.usage) : null,
    ...extraFor(answer.extra, "responses"),
  };
}

export function writeError({ code = "server_error", message }: AnswerError): Json {
  return { code, message };
}

export function statusOf(stop: Stop): "completed" | "incomplete" {
  return INCOMPLETE[stop.reason] ? "incomplete" : "completed";
}

export function incompleteDetails(stop: Stop): Json | null {
  const reason = INCOMPLETE[stop.reason];
  return reason === undefined ? null : { reason };
}

/** A response without usage. It repeats the settings of the request, as clients expect. */
export function writeResponse(
  head: Pick<Answer, "id" | "model" | "created" | "completed">,
  request: ItemRequest | undefined,
  status: string,
  output: readonly Json[],
): Json {
  const { reasoning } = request ?? {};
  const { previous_response_id, prompt_cache_key, safety_identifier, truncation } =
    extraFor(request?.extra, "responses") ?? {};
  return {
    id: head.id,
    object: "response",
    created_at: head.created ?? 0,
    // An answer of a duel has the time of its creation, because its duration would reveal the
    // model.
    completed_at: status === "completed" ? (head.completed ?? head.created ?? null) : null,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request?.instructions ?? null,
    max_tool_calls: null,
    model: head.model,
    output,
    previous_response_id: previous_response_id ?? null,
    prompt_cache_key: prompt_cache_key ?? null,
    safety_identifier: safety_identifier ?? null,
    service_tier: "default",
    store: false,
    truncation: truncation ?? "disabled",
    user: request?.user ?? null,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: request?.logprobs ?? 0,
    ...DEFAULTS,
    ...(request && compact(writeSettings(request))),
    tools: request
      ? writeTools(request).map((tool) => ({ description: null, ...compact(tool) }))
      : [],
    ...(!request?.output && { text: { ...DEFAULTS.text, verbosity: request?.verbosity } }),
    reasoning: {
      effort: (reasoning && effortOf(reasoning)) ?? null,
      summary: reasoning?.summary ?? null,
    },
    usage: null,
  };
}

const DEFAULTS = {
  tool_choice: "auto",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  max_output_tokens: null,
  temperature: 1,
  top_p: 1,
  metadata: {},
};

const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};

/** Id of an item of the answer. Items of other dialects have no id and get one. */
export function itemId(item: Item, answerId: string, index: number): string {
  if (item.type !== "hosted" && item.id !== undefined) return item.id;
  const type = item.type === "function_call" && item.custom ? "custom_tool_call" : item.type;
  return `${PREFIXES[type] ?? "item"}_${answerId.replace(/^[a-z]+[_-]/, "")}_${index}`;
}

/** Writes an item of an answer. */
export function writeOutput(
  item: Item,
  answerId: string,
  index: number,
  status = "completed",
): Json | undefined {
  const id = itemId(item, answerId, index);
  switch (item.type) {
    case "message":
      return {
        type: "message",
        id,
        status,
        role: "assistant",
        content: writeOutputParts(item),
        ...extraFor(item.extra, "responses"),
      };
    case "reasoning":
      return writeReasoning({ ...item, id });
    case "function_call":
      return { ...writeCall({ ...item, id }), status, ...extraFor(item.extra, "responses") };
    default:
      return writeItem(item);
  }
}

const EMPTY_LISTS = { annotations: [], logprobs: [] };

function writeOutputParts(item: MessageItem): Json[] {
  return writeParts(item.content, "assistant").map((part) =>
    part.type === "output_text" ? { ...EMPTY_LISTS, ...compact(part) } : part,
  );
}
