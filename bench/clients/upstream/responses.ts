import { z } from "zod";
import { USAGE } from "../cells.ts";
import { type Entry, Refused, type ToolCall, type Wire } from "./conversation.ts";
import { imageIn, jsonIn, parseStrictly, writeEvent } from "./reading.ts";

/** OpenAI's Responses for a caller that stores nothing, with the members of its reference and no others. */

const InputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const InputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string(),
  detail: z.string().optional(),
});
const OutputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).nullish(),
});
const Status = z.enum(["in_progress", "completed", "incomplete"]).nullish();

const InputMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.enum(["user", "system", "developer"]),
  content: z.union([z.string(), z.array(z.union([InputText, InputImage]))]),
  id: z.string().optional(),
  status: Status,
});
const AssistantMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.literal("assistant"),
  content: z.union([z.string(), z.array(OutputText)]),
  id: z.string().regex(/^msg_/).optional(),
  status: Status,
  phase: z.string().nullish(),
});
const Call = z.strictObject({
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  namespace: z.string().nullish(),
  id: z.string().regex(/^fc_/).nullish(),
  status: Status,
});
const Output = z.strictObject({
  type: z.literal("function_call_output"),
  call_id: z.string(),
  output: z.union([z.string(), z.array(z.union([InputText, InputImage]))]),
  id: z.string().nullish(),
  status: Status,
});
const Item = z.union([InputMessage, AssistantMessage, Call, Output]);

const FunctionTool = z.strictObject({
  type: z.literal("function"),
  name: z.string().regex(/^[\w-]{1,64}$/),
  description: z.string().nullish(),
  parameters: z.looseObject({ type: z.literal("object") }).nullable(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().optional(),
});
/** Tools that OpenAI itself runs, or that have another form than functions. */
const OtherTool = z.looseObject({
  type: z.enum([
    "web_search",
    "custom",
    "namespace",
    "image_generation",
    "tool_search",
    "local_shell",
  ]),
});

const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["text", "json_object"]) }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().nullish(),
    schema: z.looseObject({}),
    strict: z.boolean().nullish(),
  }),
]);

const Request = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  store: z.literal(false),
  include: z.array(z.string()).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  previous_response_id: z.null().optional(),
  background: z.literal(false).nullish(),
  truncation: z.string().nullish(),
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  client_metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  reasoning: z
    .strictObject({
      effort: z.string().nullish(),
      summary: z.string().nullish(),
      context: z.string().nullish(),
    })
    .nullish(),
  text: z.strictObject({ format: Format.nullish(), verbosity: z.string().nullish() }).nullish(),
  tools: z.array(z.union([FunctionTool, OtherTool])).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({ type: z.literal("function"), name: z.string() }),
    ])
    .nullish(),
});

export const responses: Wire = {
  read(body) {
    const request = parseStrictly(Request, body);
    const { input, instructions, tool_choice: choice } = request;
    const format = request.text?.format;
    const items = typeof input === "string" ? [] : input;
    const system = items.flatMap((item) =>
      "role" in item && (item.role === "system" || item.role === "developer")
        ? [textOf(item.content)]
        : [],
    );
    return {
      model: request.model,
      stream: request.stream ?? false,
      maxTokens: request.max_output_tokens ?? undefined,
      system: [instructions ?? "", ...system].filter((text) => text !== "").join("\n"),
      entries:
        typeof input === "string" ? [{ kind: "user", text: input }] : items.flatMap(entriesOf),
      tools: (request.tools ?? []).flatMap((tool) =>
        tool.type === "function" ? [{ name: String(tool.name), parameters: tool.parameters }] : [],
      ),
      forcedTool: typeof choice === "object" ? choice?.name : undefined,
      schema: format?.type === "json_schema" ? format.schema : undefined,
      wantsUsage: true,
    };
  },

  body: (answer, model) => ({
    ...head(model),
    status: "completed",
    completed_at: 1_790_000_001,
    output: outputOf(answer.pieces, answer.calls),
    usage: usage(),
  }),

  events({ pieces, calls }, { model }) {
    const output = outputOf(pieces, calls);
    const running = { ...head(model), status: "in_progress", output: [], usage: null };
    const done = { ...head(model), status: "completed", output, usage: usage() };
    const events = [
      { type: "response.created", response: running },
      { type: "response.in_progress", response: running },
      ...output.flatMap((item, output_index) =>
        item.type === "message"
          ? messageEvents(item, pieces, output_index)
          : callEvents(item as FunctionCall, output_index),
      ),
      { type: "response.completed", response: { ...done, completed_at: 1_790_000_001 } },
    ];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },

  write: (response, event) => writeEvent(response, event, (event as { type: string }).type),
  end: (response) => void response.end(),
  error: (status, message) => ({
    error: {
      message,
      type: status < 500 ? "invalid_request_error" : "server_error",
      param: null,
      code: null,
    },
  }),
};

function entriesOf(item: z.infer<typeof Item>): Entry[] {
  if (item.type === "function_call") {
    const input = jsonIn(item.arguments, `the arguments of ${item.call_id}`);
    return [{ kind: "call", id: item.call_id, name: item.name, input }];
  }
  if (item.type === "function_call_output") {
    const images = typeof item.output === "string" ? [] : imagesIn(item.output);
    return [{ kind: "result", id: item.call_id, text: textOf(item.output) }, ...images];
  }
  if (!("role" in item)) throw new Refused("an item has no role");
  const { role, content } = item;
  if (role === "assistant") return [{ kind: "assistant", text: textOf(content) }];
  if (role !== "user") return [];
  if (typeof content === "string") return [{ kind: "user", text: content }];
  return content.map(
    (part): Entry =>
      part.type === "input_text" ? { kind: "user", text: part.text } : imageIn(part.image_url),
  );
}

type Part = z.infer<typeof InputText> | z.infer<typeof InputImage> | z.infer<typeof OutputText>;

function imagesIn(parts: readonly Part[]): Entry[] {
  return parts.flatMap((part) => (part.type === "input_image" ? [imageIn(part.image_url)] : []));
}

function textOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}

type TypedEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

interface FunctionCall {
  readonly type: string;
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: string;
}

function outputOf(pieces: readonly string[], calls: readonly ToolCall[]) {
  const part = { type: "output_text", text: pieces.join(""), annotations: [], logprobs: [] };
  const message = { type: "message", role: "assistant", status: "completed", content: [part] };
  return [
    ...(pieces.length > 0 ? [{ id: "msg_up1", ...message }] : []),
    ...calls.map(
      ({ id, name, input }): FunctionCall => ({
        type: "function_call",
        id: id.replace(/^call/, "fc"),
        call_id: id,
        name,
        arguments: JSON.stringify(input),
        status: "completed",
      }),
    ),
  ];
}

function messageEvents(
  item: { readonly id: string },
  pieces: readonly string[],
  output_index: number,
): TypedEvent[] {
  const at = { item_id: item.id, output_index, content_index: 0 };
  const text = pieces.join("");
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  const begun = { ...item, status: "in_progress", content: [] };
  return [
    { type: "response.output_item.added", output_index, item: begun },
    { type: "response.content_part.added", ...at, part },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: { ...part, text } },
    { type: "response.output_item.done", output_index, item },
  ];
}

function callEvents(item: FunctionCall, output_index: number): TypedEvent[] {
  const at = { item_id: item.id, output_index };
  const text = item.arguments;
  const half = Math.ceil(text.length / 2);
  const type = "response.function_call_arguments.delta";
  const begun = { ...item, status: "in_progress", arguments: "" };
  return [
    { type: "response.output_item.added", output_index, item: begun },
    { type, ...at, delta: text.slice(0, half) },
    { type, ...at, delta: text.slice(half) },
    { type: "response.function_call_arguments.done", ...at, name: item.name, arguments: text },
    { type: "response.output_item.done", output_index, item },
  ];
}

function head(model: string): object {
  return {
    id: "resp_up1",
    object: "response",
    created_at: 1_790_000_000,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    metadata: {},
  };
}

function usage(): object {
  return {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
  };
}
