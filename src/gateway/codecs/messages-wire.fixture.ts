import type Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import {
  base64,
  id,
  list,
  members,
  object,
  ratio,
  schema,
  text,
  tokens,
  url,
  usage,
  word,
} from "./wire.fixture.ts";

/** Random requests and answers of the Messages API, in the form in which the codec writes them. */

const cache_control = fc.oneof(
  fc.constant({ type: "ephemeral" as const }),
  fc.constantFrom("5m" as const, "1h" as const).map((ttl) => ({ type: "ephemeral" as const, ttl })),
);

const textBlock = fc.record({ type: fc.constant("text" as const), text });
const markedText = members({ type: fc.constant("text" as const), text, cache_control }, [
  "type",
  "text",
  "cache_control",
]);
const image = members(
  {
    type: fc.constant("image" as const),
    source: fc.oneof(
      base64.map((data) => ({ type: "base64" as const, media_type: "image/png" as const, data })),
      url.map((each) => ({ type: "url" as const, url: each })),
      id("file").map((file_id) => ({ type: "file" as const, file_id })),
    ),
    cache_control,
  },
  ["type", "source"],
);
const document = members(
  {
    type: fc.constant("document" as const),
    source: fc.oneof(
      base64.map((data) => ({
        type: "base64" as const,
        media_type: "application/pdf" as const,
        data,
      })),
      url.map((each) => ({ type: "url" as const, url: each })),
      text.map((data) => ({ type: "text" as const, media_type: "text/plain" as const, data })),
    ),
    title: word,
    citations: fc.constant({ enabled: true }),
    cache_control,
  },
  ["type", "source"],
);
const search = fc.record({
  type: fc.constant("search_result" as const),
  source: url,
  title: text,
  content: fc.tuple(textBlock),
});
const userBlock = fc.oneof(textBlock, markedText, image, document, search);

/** A string if it is one plain text, otherwise blocks. */
const plain = (blocks: readonly { type: string }[]): unknown =>
  blocks.length === 1 && Object.keys(blocks[0]!).length === 2 && "text" in blocks[0]!
    ? blocks[0]!.text
    : blocks;

const toolUse = members(
  {
    type: fc.constant("tool_use" as const),
    id: id("toolu"),
    name: word,
    input: object,
    cache_control,
  },
  ["type", "id", "name", "input"],
);
const thinking = fc.oneof(
  fc.record({
    type: fc.constant("thinking" as const),
    thinking: fc.oneof(text, fc.constant("")),
    signature: base64,
  }),
  fc.record({ type: fc.constant("redacted_thinking" as const), data: base64 }),
);
const server = fc.record({
  type: fc.constant("server_tool_use" as const),
  id: id("srvtoolu"),
  name: fc.constant("web_search" as const),
  input: object,
});
const result = members(
  {
    type: fc.constant("tool_result" as const),
    tool_use_id: id("toolu"),
    content: fc.oneof(
      text,
      fc.tuple(textBlock, image),
      list(fc.oneof(image, document, markedText), 1, 2),
    ),
    is_error: fc.boolean(),
    cache_control,
  },
  ["type", "tool_use_id"],
);

const assistant = list(fc.oneof(textBlock, markedText, thinking, toolUse, server), 1, 4).map(
  (blocks) => ({
    role: "assistant" as const,
    content: plain(blocks),
  }),
);
const user = fc.tuple(list(result, 0, 2), list(userBlock, 1, 2)).map(([results, blocks]) => ({
  role: "user" as const,
  content: results.length > 0 ? [...results, ...blocks] : plain(blocks),
}));

const messages = list(fc.tuple(user, assistant), 1, 2)
  .chain((pairs) => user.map((last) => [...pairs.flat(), last]))
  .map((all) => all as Anthropic.MessageParam[]);

const tool = fc.oneof(
  members(
    {
      name: word,
      description: text,
      input_schema: schema,
      strict: fc.boolean(),
      cache_control,
      defer_loading: fc.boolean(),
    },
    ["name", "input_schema"],
  ),
  fc.constant({ type: "web_search_20250305" as const, name: "web_search" as const }),
);
const single = fc.oneof(
  fc.constant({}),
  fc.boolean().map((disable_parallel_tool_use) => ({ disable_parallel_tool_use })),
);
const choice = fc.oneof(
  single.map((more) => ({ type: "auto" as const, ...more })),
  single.map((more) => ({ type: "any" as const, ...more })),
  fc.tuple(word, single).map(([name, more]) => ({ type: "tool" as const, name, ...more })),
  fc.constant({ type: "none" as const }),
);
const display = fc.constantFrom("summarized" as const, "omitted" as const);

export const messagesRequest: fc.Arbitrary<Anthropic.MessageCreateParams> = members(
  {
    model: word,
    max_tokens: tokens,
    system: fc.oneof(text, fc.tuple(textBlock, markedText), fc.tuple(markedText)),
    messages,
    stream: fc.constant(true as const),
    tools: list(tool, 1, 2),
    tool_choice: choice,
    output_config: fc.oneof(
      fc.record({ effort: fc.constantFrom("low" as const, "max" as const) }),
      fc.record({ format: schema.map((each) => ({ type: "json_schema" as const, schema: each })) }),
    ),
    thinking: fc.oneof(
      members({ type: fc.constant("enabled" as const), budget_tokens: tokens, display }, [
        "type",
        "budget_tokens",
      ]),
      members({ type: fc.constant("adaptive" as const), display }, ["type"]),
      fc.constantFrom({ type: "disabled" as const }, { type: "between_tools" as const }),
    ),
    temperature: ratio,
    top_p: ratio,
    top_k: tokens,
    stop_sequences: list(text, 1, 2),
    metadata: fc.record({ user_id: word }),
    cache_control,
    service_tier: fc.constant("standard_only" as const),
    container: word,
  },
  ["model", "max_tokens", "messages"],
);

const answerBlock = fc.oneof(
  textBlock,
  thinking,
  fc.record({ type: fc.constant("tool_use" as const), id: id("toolu"), name: word, input: object }),
  server,
);

export const messagesAnswer = fc
  .record({
    id: id("msg"),
    type: fc.constant("message" as const),
    role: fc.constant("assistant" as const),
    model: word,
    content: list(answerBlock, 1, 4),
    stop: fc.constantFrom(
      "end_turn",
      "max_tokens",
      "stop_sequence",
      "tool_use",
      "pause_turn",
      "refusal",
      "model_context_window_exceeded",
    ),
    sequence: text,
    usage: usage.map((of) => ({
      input_tokens: of.plain,
      cache_creation_input_tokens: of.writes,
      cache_read_input_tokens: of.cached,
      cache_creation: {
        ephemeral_5m_input_tokens: of.writes - of.hourWrites,
        ephemeral_1h_input_tokens: of.hourWrites,
      },
      output_tokens: of.completion,
      output_tokens_details: { thinking_tokens: of.reasoning },
      ...of.reported,
    })),
  })
  .map(({ stop, sequence, usage: counted, ...message }) => ({
    ...message,
    stop_reason: stop === "end_turn" || stop === "tool_use" ? normalEnd(message.content) : stop,
    stop_sequence: stop === "stop_sequence" ? sequence : null,
    usage: counted,
  }));

/** Anthropic gives the reason `tool_use` if, and only if, a tool is called. */
function normalEnd(content: readonly { readonly type: string }[]): string {
  return content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
}
