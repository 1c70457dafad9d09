import fc from "fast-check";
import type OpenAI from "openai";
import {
  base64,
  id,
  json,
  list,
  logprob,
  members,
  metadata,
  object,
  ratio,
  type Streamable,
  schema,
  text,
  tokens,
  url,
  usage,
  word,
} from "./wire.fixture.ts";

/** Random requests and answers of chat completions, in the form in which the codec writes them. */

type Message = OpenAI.Chat.ChatCompletionMessageParam;

const textPart = fc.record({ type: fc.constant("text" as const), text });
const breakpoint = fc.constant({ mode: "explicit" as const });
const dataUrl = base64.map((data) => `data:application/pdf;base64,${data}`);
const imageUrl = fc.oneof(
  url,
  base64.map((data) => `data:image/png;base64,${data}`),
);

const mediaPart = fc.oneof(
  fc.record({
    type: fc.constant("image_url" as const),
    image_url: members(
      { url: imageUrl, detail: fc.constantFrom("low" as const, "high" as const) },
      ["url"],
    ),
  }),
  fc.record({
    type: fc.constant("input_audio" as const),
    input_audio: fc.record({
      data: base64,
      format: fc.constantFrom("wav" as const, "mp3" as const),
    }),
  }),
  fc.record({
    type: fc.constant("file" as const),
    file: fc.oneof(
      members({ file_data: dataUrl, filename: word }, ["file_data"]),
      fc.record({ file_id: id("file") }),
    ),
  }),
  textPart.chain((part) =>
    breakpoint.map((prompt_cache_breakpoint) => ({ ...part, prompt_cache_breakpoint })),
  ),
  fc.constant({ type: "video_url", video_url: { url: "https://example.com" } } as never),
);

const userContent = fc.oneof(
  text,
  fc.tuple(textPart, mediaPart),
  list(mediaPart, 1, 2),
  fc.tuple(textPart, textPart),
);
const user = members({ role: fc.constant("user" as const), content: userContent, name: word }, [
  "role",
  "content",
]);
const system = fc.record({
  role: fc.constantFrom("system" as const, "developer" as const),
  content: fc.oneof(text, fc.tuple(textPart, textPart)),
});

const functionCall = fc.record({
  id: id("call"),
  type: fc.constant("function" as const),
  function: fc.record({ name: word, arguments: json }),
});
const customCall = fc.record({
  id: id("call"),
  type: fc.constant("custom" as const),
  custom: fc.record({ name: word, input: text }),
});
const call = fc.oneof(functionCall, customCall);
const refusal = fc.record({ type: fc.constant("refusal" as const), refusal: text });
const said = fc.oneof(
  text,
  fc.tuple(textPart, textPart),
  fc.tuple(refusal),
  fc.tuple(textPart, refusal),
);

const assistant = members(
  { role: fc.constant("assistant" as const), content: said, reasoning_content: text },
  ["role", "content"],
);
/** A message with calls and the outputs of all of them. */
const exchange = fc
  .tuple(
    fc.option(said),
    list(call, 1, 2),
    fc.option(text),
    fc.oneof(text, fc.tuple(textPart, textPart), fc.constant("")),
  )
  .map(([content, tool_calls, reasoning, output]): Message[] => [
    {
      role: "assistant",
      content,
      ...(reasoning !== null && { reasoning_content: reasoning }),
      tool_calls,
    },
    ...tool_calls.map(({ id: tool_call_id }) => ({
      role: "tool" as const,
      tool_call_id,
      content: output,
    })),
  ]);

const messages: fc.Arbitrary<Message[]> = list(
  fc.oneof(
    user.map((each) => [each as Message]),
    system.map((each) => [each]),
    assistant.map((each) => [each]),
    exchange,
  ),
  1,
  4,
).map((groups) => groups.flat());

const tool = fc.oneof(
  fc.record({
    type: fc.constant("function" as const),
    function: members({ name: word, description: text, parameters: schema, strict: fc.boolean() }, [
      "name",
    ]),
  }),
  fc.record({
    type: fc.constant("custom" as const),
    custom: members(
      {
        name: word,
        description: text,
        format: fc.oneof(
          fc.constant({ type: "text" as const }),
          text.map((definition) => ({
            type: "grammar" as const,
            grammar: { definition, syntax: "lark" as const },
          })),
        ),
      },
      ["name"],
    ),
  }),
);

const choice = fc.oneof(
  fc.constantFrom("auto" as const, "none" as const, "required" as const),
  fc.record({ type: fc.constant("function" as const), function: fc.record({ name: word }) }),
  fc.record({ type: fc.constant("custom" as const), custom: fc.record({ name: word }) }),
  fc.record({
    type: fc.constant("allowed_tools" as const),
    allowed_tools: fc.record({
      mode: fc.constantFrom("auto" as const, "required" as const),
      tools: list(
        word.map((name) => ({ type: "function", function: { name } })),
        1,
        2,
      ),
    }),
  }),
);

const format = fc.oneof(
  fc.constantFrom({ type: "text" as const }, { type: "json_object" as const }),
  fc.record({
    type: fc.constant("json_schema" as const),
    json_schema: members({ name: word, description: text, schema, strict: fc.boolean() }, [
      "name",
      "schema",
    ]),
  }),
);

export const chatRequest: fc.Arbitrary<
  Streamable<OpenAI.Chat.ChatCompletionCreateParamsStreaming>
> = members(
  {
    model: word,
    messages,
    stream: fc.constant(true as const),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    tools: list(tool, 1, 2),
    tool_choice: choice,
    parallel_tool_calls: fc.boolean(),
    response_format: format,
    verbosity: fc.constantFrom("low" as const, "high" as const),
    reasoning_effort: fc.constantFrom(
      "none" as const,
      "minimal" as const,
      "low" as const,
      "high" as const,
    ),
    max_completion_tokens: tokens,
    temperature: ratio,
    top_p: ratio,
    seed: tokens,
    frequency_penalty: ratio,
    presence_penalty: ratio,
    stop: list(text, 1, 2),
    n: fc.integer({ min: 1, max: 3 }),
    user: word,
    metadata,
    prompt_cache_key: word,
    store: fc.boolean(),
    logit_bias: object.map(() => ({ "50256": -100 })),
    modalities: fc.constant<"text"[]>(["text"]),
  },
  ["model", "messages"],
).chain((request) =>
  fc
    .constantFrom({}, { logprobs: true }, { logprobs: true, top_logprobs: 3 })
    .map((more) => ({ ...request, ...more })),
);

const answerChoice = fc
  .tuple(
    fc.option(text),
    fc.option(text),
    fc.option(text, { nil: undefined }),
    list(call, 0, 2),
    fc.constantFrom("stop", "length", "tool_calls", "content_filter"),
    list(logprob, 0, 2),
  )
  .map(([content, refused, reasoning_content, calls, finish_reason, logprobs]) => ({
    message: {
      role: "assistant" as const,
      content,
      refusal: refused,
      ...(reasoning_content !== undefined && { reasoning_content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: content !== null && logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finish_reason as "stop",
  }));

export const chatAnswer: fc.Arbitrary<OpenAI.Chat.ChatCompletion> = members(
  {
    id: id("chatcmpl"),
    object: fc.constant("chat.completion" as const),
    created: tokens,
    model: word,
    choices: list(answerChoice, 1, 2).map((all) => all.map((each, index) => ({ index, ...each }))),
    usage: fc.tuple(usage, fc.option(ratio, { nil: undefined })).map(([of, cost]) => ({
      prompt_tokens: of.prompt,
      completion_tokens: of.completion,
      total_tokens: of.prompt + of.completion,
      prompt_tokens_details: {
        cached_tokens: of.cached,
        ...(of.writes > 0 && { cache_write_tokens: of.writes }),
      },
      completion_tokens_details: { reasoning_tokens: of.reasoning },
      ...(cost !== undefined && { cost }),
    })),
    system_fingerprint: word,
  },
  ["id", "object", "created", "model", "choices"],
);
