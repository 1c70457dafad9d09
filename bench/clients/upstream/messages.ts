import { z } from "zod";
import { USAGE } from "../cells.ts";
import { type Entry, Refused, type Wire } from "./conversation.ts";
import { imageIn, parseStrictly, writeEvent } from "./reading.ts";

/** Anthropic's Messages, with the members that clients use and no others. */

const Cache = z
  .strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() })
  .nullish();
const TextBlock = z.strictObject({
  type: z.literal("text"),
  text: z.string().min(1),
  cache_control: Cache,
  citations: z.null().optional(),
});
const ImageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.string(),
    data: z.string(),
  }),
  cache_control: Cache,
});
const ResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.union([TextBlock, ImageBlock]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control: Cache,
});
const UseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[\w-]+$/),
  name: z.string(),
  input: z.looseObject({}),
  cache_control: Cache,
  caller: z.looseObject({}).optional(),
});

const Message = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      z.string().min(1),
      z.array(z.discriminatedUnion("type", [TextBlock, ImageBlock, ResultBlock])).min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([
      z.string().min(1),
      z.array(z.discriminatedUnion("type", [TextBlock, UseBlock])).min(1),
    ]),
  }),
  // Claude Code places instructions between messages in this way.
  z.strictObject({
    role: z.literal("system"),
    content: z.union([z.string().min(1), z.array(TextBlock).min(1)]),
  }),
]);

const Tool = z.strictObject({
  type: z.literal("custom").nullish(),
  name: z.string().regex(/^[\w-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal("object") }),
  cache_control: Cache,
  strict: z.boolean().optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(z.unknown()).optional(),
  allowed_callers: z.array(z.string()).optional(),
});

const Request = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(Message).min(1),
  system: z.union([z.string(), z.array(TextBlock)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.string().optional(),
  thinking: z
    .strictObject({
      type: z.enum(["enabled", "disabled", "adaptive"]),
      budget_tokens: z.int().optional(),
      display: z.string().optional(),
    })
    .optional(),
  context_management: z.looseObject({}).optional(),
  cache_control: Cache,
  output_config: z
    .strictObject({
      effort: z.string().nullish(),
      format: z
        .strictObject({ type: z.literal("json_schema"), schema: z.looseObject({}) })
        .nullish(),
    })
    .optional(),
  tools: z.array(Tool).optional(),
  tool_choice: z
    .strictObject({
      type: z.enum(["auto", "any", "tool", "none"]),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().optional(),
    })
    .optional(),
});

export const messages: Wire = {
  read(body) {
    const request = parseStrictly(Request, body);
    const { system = "", tool_choice: choice } = request;
    return {
      model: request.model,
      stream: request.stream ?? false,
      maxTokens: request.max_tokens,
      system: typeof system === "string" ? system : system.map(({ text }) => text).join("\n"),
      entries: request.messages.flatMap(entriesOf),
      tools: (request.tools ?? []).map(({ name, input_schema }) => ({
        name,
        parameters: input_schema,
      })),
      forcedTool: choice?.type === "tool" ? choice.name : undefined,
      schema: request.output_config?.format?.schema,
      wantsUsage: true,
    };
  },

  body: ({ pieces, calls }, model) => ({
    ...head(model),
    content: [
      ...(pieces.length > 0 ? [{ type: "text", text: pieces.join("") }] : []),
      ...calls.map((call) => ({ type: "tool_use", ...call })),
    ],
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: usage(USAGE.output),
  }),

  events({ pieces, calls }, { model }) {
    const blocks = [
      ...(pieces.length > 0 ? [{ start: { type: "text", text: "" }, deltas: texts(pieces) }] : []),
      ...calls.map(({ input, ...call }) => ({
        start: { type: "tool_use", ...call, input: {} },
        deltas: halves(JSON.stringify(input)).map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      })),
    ];
    return [
      { type: "message_start", message: { ...head(model), usage: usage(1) } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: "content_block_start", index, content_block: start },
        ...(index === 0 ? [{ type: "ping" }] : []),
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
        usage: usage(USAGE.output),
      },
      { type: "message_stop" },
    ];
  },

  write: (response, event) => writeEvent(response, event, (event as { type: string }).type),
  end: (response) => void response.end(),
  error: (status, message) => ({
    type: "error",
    error: { type: status < 500 ? "invalid_request_error" : "api_error", message },
    request_id: "req_up",
  }),
};

const texts = (pieces: readonly string[]) => pieces.map((text) => ({ type: "text_delta", text }));

function entriesOf({ role, content }: z.infer<typeof Message>): Entry[] {
  if (role === "system") return [];
  if (typeof content === "string") return [{ kind: role, text: content }];
  const entries = content.map((block): Entry => {
    if (block.type === "text") return { kind: role, text: block.text };
    if (block.type === "tool_use") {
      return { kind: "call", id: block.id, name: block.name, input: block.input };
    }
    if (block.type === "tool_result") {
      return { kind: "result", id: block.tool_use_id, text: resultText(block.content ?? "") };
    }
    return imageIn(`data:${block.source.media_type};base64,${block.source.data}`);
  });
  const firstOther = entries.findIndex(({ kind }) => kind !== "result");
  if (firstOther >= 0 && entries.slice(firstOther).some(({ kind }) => kind === "result")) {
    throw new Refused("tool_result blocks must come first in a message");
  }
  const images = content.flatMap((block) =>
    block.type === "tool_result" && Array.isArray(block.content)
      ? block.content.flatMap((part) =>
          part.type === "image"
            ? [imageIn(`data:${part.source.media_type};base64,${part.source.data}`)]
            : [],
        )
      : [],
  );
  return [...entries, ...images];
}

function resultText(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.map(({ text = "" }) => text).join("");
}

function head(model: string): object {
  return {
    id: "msg_up1",
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return ["", text.slice(0, half), text.slice(half)];
}

function usage(output: number): object {
  return {
    input_tokens: USAGE.input - USAGE.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: USAGE.cached,
    output_tokens: output,
    service_tier: "standard",
  };
}
