import type { DialectName } from "../wire/dialect-names.ts";

/** A field that some dialects cannot carry. Translations between all other dialects keep it. */
export interface Loss {
  /** The field as its own dialect names it. */
  readonly field: string;
  /** Dialects that a translation cannot carry it to. */
  readonly to: readonly DialectName[];
  /** The effect of the translation. */
  readonly effect: string;
}

const CHAT = ["chat"] as const;
const RESPONSES = ["responses"] as const;
const MESSAGES = ["messages"] as const;
const OPENAI = ["chat", "responses"] as const;
const NOT_CHAT = ["responses", "messages"] as const;
const NOT_RESPONSES = ["chat", "messages"] as const;
const ALL = ["chat", "responses", "messages"] as const;

/**
 * Everything that a translation between two dialects cannot carry, in the order in which the
 * effects apply. `losses.test.ts` fails if the list lacks a field or has one too many.
 */
export const LOSSES = {
  // Conversations and answers
  extra: {
    field: "members, parts, tools and items that only the client's dialect knows (listed below)",
    to: ALL,
    effect: "left out",
  },
  ids: { field: "`id` of an item", to: NOT_RESPONSES, effect: "left out" },
  instructions: {
    field: "`instructions`",
    to: NOT_RESPONSES,
    effect: "becomes the first system message",
  },
  developer: { field: "role `developer`", to: MESSAGES, effect: "becomes `system`" },
  systemPlace: {
    field: "place of system messages",
    to: MESSAGES,
    effect: "all become `system`, before the conversation",
  },
  cache: { field: "`cache_control`", to: OPENAI, effect: "left out" },
  detail: { field: "`detail` of an image", to: MESSAGES, effect: "left out" },
  imageFile: { field: "image by file id", to: CHAT, effect: "left out" },
  documentUrl: { field: "document by URL", to: CHAT, effect: "left out" },
  documentText: {
    field: "document that is plain text",
    to: OPENAI,
    effect: "becomes a text without its title",
  },
  audio: { field: "audio", to: MESSAGES, effect: "left out" },
  refusal: { field: "refusal", to: MESSAGES, effect: "becomes a text" },
  isError: { field: "`is_error` of a tool result", to: OPENAI, effect: "left out" },
  customOutput: {
    field: "type of the output of a custom tool",
    to: NOT_RESPONSES,
    effect: "becomes the output of a function",
  },
  custom: {
    field: "custom tools",
    to: MESSAGES,
    effect:
      "become functions with one argument, `input`, and the grammar in the description; calls in the answer are changed back",
  },
  emptyMessages: {
    field: "messages of which nothing is left",
    to: ALL,
    effect: "left out",
  },
  signature: {
    field: "signature and encrypted content of reasoning, and reasoning that has nothing else",
    to: CHAT,
    effect: "left out",
  },
  summary: {
    field: "summary of reasoning",
    to: CHAT,
    effect: "becomes the text of the reasoning, with the texts of other parts",
  },
  reasoningText: {
    field: "text of reasoning that is no summary",
    to: MESSAGES,
    effect: "becomes a summary, with the summaries of other parts",
  },
  outputOrder: {
    field: "messages of the user between calls and their outputs",
    to: NOT_RESPONSES,
    effect: "come after the outputs",
  },
  outputMedia: {
    field: "images and documents in the output of a call",
    to: CHAT,
    effect: "become a message of the user after the outputs",
  },
  callOrder: {
    field: "order of texts, reasoning and calls in an answer",
    to: CHAT,
    effect: "reasoning first, then texts, then calls",
  },
  // Settings of a request
  noParameters: {
    field: "function without `parameters`",
    to: MESSAGES,
    effect: "gets the schema of any object",
  },
  noStrict: {
    field: "function without `strict`",
    to: RESPONSES,
    effect: "`strict` is false, as in the other dialects by default",
  },
  allowedTools: { field: "`allowed_tools`", to: MESSAGES, effect: "all tools are allowed" },
  parallel: {
    field: "`parallel_tool_calls`: true without `tool_choice`, or with `tool_choice: none`",
    to: MESSAGES,
    effect: "left out",
  },
  jsonObject: { field: "format `json_object` or `text`", to: MESSAGES, effect: "left out" },
  schemaName: {
    field: "name, description and `strict` of the answer's schema",
    to: MESSAGES,
    effect: "left out",
  },
  noSchemaName: { field: "schema without a name", to: OPENAI, effect: "is named `answer`" },
  verbosity: { field: "`verbosity`", to: MESSAGES, effect: "left out" },
  budget: {
    field: "`thinking`: budget, `adaptive`",
    to: OPENAI,
    effect: "a budget becomes an effort: low, medium from 4,000 tokens, high from 16,000",
  },
  minimal: { field: "effort `minimal`", to: MESSAGES, effect: "becomes `low`" },
  summaryMode: {
    field: "`reasoning.summary`: `concise`, `detailed`",
    to: MESSAGES,
    effect: "becomes `summarized`, if an effort is given, otherwise left out",
  },
  noSummary: {
    field: "`reasoning.summary` or `thinking.display`",
    to: CHAT,
    effect: "left out",
  },
  omitted: { field: "`thinking.display: omitted`", to: RESPONSES, effect: "left out" },
  noLimit: {
    field: "a request without a limit of tokens",
    to: MESSAGES,
    effect: "`max_tokens` is 16,384, or less for older models",
  },
  topK: { field: "`top_k`", to: OPENAI, effect: "left out" },
  sampling: {
    field: "`seed`, `frequency_penalty`, `presence_penalty`",
    to: NOT_CHAT,
    effect: "left out",
  },
  stop: { field: "`stop`", to: RESPONSES, effect: "left out" },
  choices: { field: "`n`", to: NOT_CHAT, effect: "only the first answer is kept" },
  includeUsage: {
    field: "`stream_options.include_usage`",
    to: NOT_CHAT,
    effect: "left out; usage is always sent",
  },
  logprobs: { field: "`logprobs`", to: MESSAGES, effect: "left out, also in the answer" },
  historyLogprobs: { field: "`logprobs` of earlier answers", to: CHAT, effect: "left out" },
  metadata: { field: "`metadata` other than the user", to: MESSAGES, effect: "left out" },
  // Answers
  joinedTexts: {
    field: "several texts in one answer",
    to: CHAT,
    effect: "are joined; texts of different messages are paragraphs",
  },
  joinedMessages: {
    field: "two messages in a row in one answer",
    to: MESSAGES,
    effect: "become one with several texts",
  },
  created: { field: "time of the answer", to: MESSAGES, effect: "left out" },
  stopReason: {
    field: "stop reasons `stop_sequence`, `pause_turn`, `model_context_window_exceeded`",
    to: OPENAI,
    effect: "the first two become the normal end, the last one the limit of tokens",
  },
  impliedStop: {
    field: "stop reason of a complete answer",
    to: ["responses", "messages"],
    effect: "becomes the stop reason of calls if, and only if, the answer contains any",
  },
  oneHourWrites: {
    field: "cache writes that live for an hour, in the usage",
    to: OPENAI,
    effect: "are counted with the other cache writes",
  },
  noUsage: { field: "an answer without usage", to: MESSAGES, effect: "has a usage of 0" },
} as const satisfies Record<string, Loss>;

export type LossName = keyof typeof LOSSES;

/** Members of requests and answers that only one dialect knows. */
export const OWN_MEMBERS: Readonly<Record<DialectName | "chat and responses", readonly string[]>> =
  {
    chat: ["audio", "logit_bias", "modalities", "name", "prediction", "web_search_options"],
    responses: [
      ...["annotations", "background", "context_management", "conversation", "include", "phase"],
      ...["previous_response_id", "prompt", "truncation", "hosted tools and their items"],
    ],
    messages: [
      ...["citations", "container", "context", "inference_geo", "search_result", "service_tier"],
      ...["thinking: between_tools", "server tools and their blocks"],
    ],
    "chat and responses": [
      ...["prompt_cache_breakpoint", "prompt_cache_key", "prompt_cache_options"],
      ...["prompt_cache_retention", "safety_identifier", "service_tier", "store"],
    ],
  };

/** The list as a table for docs/http.md. */
export function lossTable(): string {
  const rows = Object.values(LOSSES).map(
    ({ field, to, effect }: Loss) => `| ${field} | ${to.join(", ")} | ${effect} |`,
  );
  const own = Object.entries(OWN_MEMBERS).map(
    ([dialect, members]) => `- Only ${dialect}: ${members.join(", ")}.`,
  );
  return ["| field | translated to | effect |", "| --- | --- | --- |", ...rows, "", ...own].join(
    "\n",
  );
}
