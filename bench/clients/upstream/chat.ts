import { z } from "zod";
import { USAGE } from "../cells.ts";
import { type Entry, Refused, type Wire } from "./conversation.ts";
import { imageIn, jsonIn, parseStrictly, writeEvent } from "./reading.ts";

/** OpenAI's chat completions, with all members of its reference and no others. */

const TextPart = z.strictObject({ type: z.literal("text"), text: z.string() });
const ImagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: z.string().optional() }),
});
const Texts = z.union([z.string(), z.array(TextPart)]);
const Call = z.strictObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

const Message = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.enum(["system", "developer"]),
    content: Texts,
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.union([TextPart, ImagePart]))]),
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: Texts.nullish(),
    refusal: z.string().nullish(),
    name: z.string().optional(),
    audio: z.null().optional(),
    annotations: z.array(z.unknown()).optional(),
    function_call: z.null().optional(),
    // OpenAI ignores this member of LiteLLM.
    provider_specific_fields: z.unknown().optional(),
    tool_calls: z.array(Call).min(1).nullish(),
  }),
  z.strictObject({
    role: z.literal("tool"),
    content: Texts,
    tool_call_id: z.string(),
    // OpenAI ignores the name of the function, which some clients add.
    name: z.string().optional(),
  }),
]);

const Tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().optional(),
    parameters: z.looseObject({ type: z.literal("object") }).optional(),
    strict: z.boolean().nullish(),
  }),
});

const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["text", "json_object"]) }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: z.string().regex(/^[\w-]{1,64}$/),
      description: z.string().optional(),
      schema: z.looseObject({}),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const Request = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({
      include_usage: z.boolean().optional(),
      include_obfuscation: z.boolean().optional(),
    })
    .nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  n: z.literal(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.int().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  user: z.string().optional(),
  metadata: z.record(z.string(), z.string()).nullish(),
  store: z.boolean().nullish(),
  reasoning_effort: z.string().nullish(),
  verbosity: z.string().nullish(),
  service_tier: z.string().nullish(),
  prompt_cache_key: z.string().optional(),
  safety_identifier: z.string().optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: Format.optional(),
  tools: z.array(Tool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({ name: z.string() }),
      }),
    ])
    .optional(),
});

export const chat: Wire = {
  read(body) {
    const request = parseStrictly(Request, body);
    if (request.stream_options && !request.stream) {
      throw new Refused("stream_options is only allowed when stream is enabled");
    }
    if (request.max_tokens && request.max_completion_tokens) {
      throw new Refused("max_tokens and max_completion_tokens cannot both be set");
    }
    const { response_format: format, tool_choice: choice, messages } = request;
    const system = messages.filter(({ role }) => role === "system" || role === "developer");
    return {
      model: request.model,
      stream: request.stream ?? false,
      maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
      system: system.map(({ content }) => textIn(content as never)).join("\n"),
      entries: messages.flatMap(entriesOf),
      tools: (request.tools ?? []).map((tool) => ({
        name: tool.function.name,
        parameters: tool.function.parameters,
      })),
      forcedTool: typeof choice === "object" ? choice.function.name : undefined,
      schema: format?.type === "json_schema" ? format.json_schema.schema : undefined,
      wantsUsage: request.stream_options?.include_usage ?? false,
    };
  },

  body: ({ pieces, calls }, model) => ({
    id: "chatcmpl-up1",
    object: "chat.completion",
    created: 1_790_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: pieces.length > 0 ? pieces.join("") : null,
          refusal: null,
          ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
        },
        logprobs: null,
        finish_reason: calls.length > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: usage(),
    system_fingerprint: "fp_up",
  }),

  events({ pieces, calls }, { model, wantsUsage }) {
    const chunk = (choices: readonly object[], more: object = {}) => ({
      id: "chatcmpl-up1",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model,
      system_fingerprint: "fp_up",
      choices,
      ...(wantsUsage && { usage: null }),
      ...more,
    });
    const delta = (content: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: content, logprobs: null, finish_reason }]);
    return [
      delta({ role: "assistant", content: calls.length > 0 ? null : "", refusal: null }),
      ...pieces.map((content) => delta({ content })),
      ...calls.flatMap((call, index) => {
        const { function: made, ...head } = toolCall(call);
        const text = made.arguments;
        const half = Math.ceil(text.length / 2);
        const part = (more: string) => ({ tool_calls: [{ index, function: { arguments: more } }] });
        return [
          delta({ tool_calls: [{ index, ...head, function: { name: made.name, arguments: "" } }] }),
          delta(part(text.slice(0, half))),
          delta(part(text.slice(half))),
        ];
      }),
      delta({}, calls.length > 0 ? "tool_calls" : "stop"),
      ...(wantsUsage ? [chunk([], { usage: usage() })] : []),
    ];
  },

  write: (response, event) => writeEvent(response, event),
  end: (response) => void response.end("data: [DONE]\n\n"),
  error: (status, message) => ({
    error: {
      message,
      type: status < 500 ? "invalid_request_error" : "server_error",
      param: null,
      code: null,
    },
  }),
};

type Texts = z.infer<typeof Texts>;

function entriesOf(message: z.infer<typeof Message>): Entry[] {
  switch (message.role) {
    case "user":
      if (typeof message.content === "string") return [{ kind: "user", text: message.content }];
      return message.content.map((part) =>
        part.type === "text" ? { kind: "user", text: part.text } : imageIn(part.image_url.url),
      );
    case "assistant": {
      const calls = (message.tool_calls ?? []).map(
        ({ id, function: made }): Entry => ({
          kind: "call",
          id,
          name: made.name,
          input: jsonIn(made.arguments, `the arguments of ${id}`),
        }),
      );
      if (calls.length === 0 && message.content == null) {
        throw new Refused("an assistant message has neither content nor calls");
      }
      const text = textIn(message.content ?? "");
      return [...(text === "" ? [] : [{ kind: "assistant", text } as const]), ...calls];
    }
    case "tool":
      return [{ kind: "result", id: message.tool_call_id, text: textIn(message.content) }];
    default:
      return [];
  }
}

function textIn(content: Texts): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

function toolCall({ id, name, input }: { id: string; name: string; input: object }) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function usage(): object {
  return {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
    prompt_tokens_details: { cached_tokens: USAGE.cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
