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
  ratio,
  type Streamable,
  schema,
  text,
  tokens,
  url,
  usage,
  word,
} from "./wire.fixture.ts";

/** Random requests and answers of the Responses API, in the form in which the codec writes them. */

const inputText = members(
  {
    type: fc.constant("input_text" as const),
    text,
    prompt_cache_breakpoint: fc.constant({ mode: "explicit" as const }),
  },
  ["type", "text"],
);
const detail = fc.constantFrom("auto" as const, "low" as const, "high" as const);
const image = fc.oneof(
  fc.record({
    type: fc.constant("input_image" as const),
    image_url: fc.oneof(
      url,
      base64.map((data) => `data:image/png;base64,${data}`),
    ),
    detail,
  }),
  fc.record({ type: fc.constant("input_image" as const), file_id: id("file"), detail }),
);
const file = fc.oneof(
  fc.record({ type: fc.constant("input_file" as const), file_id: id("file") }),
  fc.record({ type: fc.constant("input_file" as const), file_url: url }),
  members(
    {
      type: fc.constant("input_file" as const),
      file_data: base64.map((data) => `data:application/pdf;base64,${data}`),
      filename: word,
    },
    ["type", "file_data"],
  ),
);
const audio = fc.record({
  type: fc.constant("input_audio" as const),
  input_audio: fc.record({ data: base64, format: fc.constantFrom("wav" as const, "mp3" as const) }),
});
const inputPart = fc.oneof(inputText, image, file, audio as fc.Arbitrary<never>);

const type = fc.constant("message" as const);
const outputPart = fc.oneof(
  members({ type: fc.constant("output_text" as const), text, logprobs: list(logprob, 1, 1) }, [
    "type",
    "text",
  ]),
  fc.record({ type: fc.constant("refusal" as const), refusal: text }),
);
const reasoning = members(
  {
    type: fc.constant("reasoning" as const),
    id: id("rs"),
    summary: list(
      text.map((each) => ({ type: "summary_text" as const, text: each })),
      0,
      2,
    ),
    content: list(
      text.map((each) => ({ type: "reasoning_text" as const, text: each })),
      1,
      2,
    ),
    encrypted_content: base64,
  },
  ["type", "id", "summary"],
);
const functionCall = members(
  {
    type: fc.constant("function_call" as const),
    id: id("fc"),
    call_id: id("call"),
    name: word,
    arguments: json,
  },
  ["type", "call_id", "name", "arguments"],
);
const customCall = fc.record({
  type: fc.constant("custom_tool_call" as const),
  id: id("ctc"),
  call_id: id("call"),
  name: word,
  input: text,
});
const output = fc.record({
  type: fc.constantFrom("function_call_output" as const, "custom_tool_call_output" as const),
  call_id: id("call"),
  output: fc.oneof(text, fc.tuple(inputText, image), list(fc.oneof(image, file), 1, 2)),
});
const hosted = fc.record({
  type: fc.constant("web_search_call" as const),
  id: id("ws"),
  status: fc.constant("completed" as const),
  action: fc.constant({ type: "search" as const, query: "q", queries: ["q"] }),
});

const input = list(
  fc.oneof(
    fc.record({
      type,
      role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
      content: list(inputPart, 1, 2),
    }),
    members(
      {
        type,
        id: id("msg"),
        role: fc.constant("assistant" as const),
        content: list(outputPart, 1, 2),
        phase: fc.constant("commentary" as const),
      },
      ["type", "role", "content"],
    ) as fc.Arbitrary<never>,
    reasoning,
    functionCall,
    customCall,
    output,
    hosted,
  ),
  1,
  5,
) as fc.Arbitrary<OpenAI.Responses.ResponseInput>;

const tool = fc.oneof(
  members(
    {
      type: fc.constant("function" as const),
      name: word,
      description: text,
      parameters: fc.oneof(schema, fc.constant(null)),
      strict: fc.boolean(),
    },
    ["type", "name", "parameters", "strict"],
  ),
  members(
    {
      type: fc.constant("custom" as const),
      name: word,
      description: text,
      format: fc.oneof(
        fc.constant({ type: "text" as const }),
        text.map((definition) => ({
          type: "grammar" as const,
          definition,
          syntax: "lark" as const,
        })),
      ),
    },
    ["type", "name"],
  ),
  fc.constant({ type: "web_search" as const }),
);
const choice = fc.oneof(
  fc.constantFrom("auto" as const, "none" as const, "required" as const),
  fc.record({ type: fc.constantFrom("function" as const, "custom" as const), name: word }),
  fc.record({
    type: fc.constant("allowed_tools" as const),
    mode: fc.constantFrom("auto" as const, "required" as const),
    tools: list(
      word.map((name) => ({ type: "function", name })),
      1,
      2,
    ),
  }),
  fc.constant({ type: "file_search" as const }),
);
const format = fc.oneof(
  fc.constantFrom({ type: "text" as const }, { type: "json_object" as const }),
  members(
    {
      type: fc.constant("json_schema" as const),
      name: word,
      description: text,
      schema,
      strict: fc.boolean(),
    },
    ["type", "name", "schema"],
  ),
);

export const responsesRequest: fc.Arbitrary<
  Streamable<OpenAI.Responses.ResponseCreateParamsStreaming>
> = members(
  {
    model: word,
    instructions: text,
    input,
    stream: fc.constant(true as const),
    tools: list(tool, 1, 2),
    tool_choice: choice,
    parallel_tool_calls: fc.boolean(),
    text: fc.oneof(
      fc.record({ format, verbosity: fc.constantFrom("low" as const, "high" as const) }),
      fc.record({ format }),
    ),
    reasoning: fc.oneof(
      fc.record({
        effort: fc.constantFrom(
          "none" as const,
          "minimal" as const,
          "low" as const,
          "high" as const,
        ),
      }),
      fc.record({
        summary: fc.constantFrom("auto" as const, "concise" as const, "detailed" as const),
      }),
      fc.record({
        effort: fc.constantFrom("minimal" as const, "low" as const, "max" as const),
        summary: fc.constantFrom("auto" as const, "concise" as const, "detailed" as const),
      }),
    ),
    max_output_tokens: tokens,
    temperature: ratio,
    top_p: ratio,
    user: word,
    metadata,
    prompt_cache_key: word,
    store: fc.boolean(),
    truncation: fc.constant("auto" as const),
    previous_response_id: id("resp"),
  },
  ["model", "input"],
).chain((request) =>
  fc
    .constantFrom<Pick<OpenAI.Responses.ResponseCreateParams, "include" | "top_logprobs">>(
      {},
      { include: ["reasoning.encrypted_content"] },
      { include: ["message.output_text.logprobs"], top_logprobs: 3 },
      { include: ["reasoning.encrypted_content", "message.output_text.logprobs"] },
    )
    .map((more) => ({ ...request, ...more })),
);

const status = fc.constant("completed" as const);
const outputItem = fc.oneof(
  fc.record({
    id: id("msg"),
    type,
    role: fc.constant("assistant" as const),
    status,
    content: list(
      fc.oneof(
        fc.record({
          type: fc.constant("output_text" as const),
          text,
          annotations: fc.constant([]),
          logprobs: list(logprob, 0, 1),
        }),
        fc.record({ type: fc.constant("refusal" as const), refusal: text }),
      ),
      1,
      2,
    ),
  }),
  reasoning,
  fc.record({
    type: fc.constant("function_call" as const),
    id: id("fc"),
    call_id: id("call"),
    name: word,
    arguments: json,
    status,
  }),
  fc.record({
    type: fc.constant("custom_tool_call" as const),
    id: id("ctc"),
    call_id: id("call"),
    name: word,
    input: text,
    status,
  }),
  hosted,
);

/** The members of a response that the codec reads; it fills the others from the request. */
export const responsesAnswer = fc
  .record({
    id: id("resp"),
    object: fc.constant("response" as const),
    created_at: tokens,
    model: word,
    output: list(outputItem, 1, 4),
    reason: fc.constantFrom(null, "max_output_tokens", "content_filter"),
    usage: fc.option(
      usage.map((of) => ({
        input_tokens: of.prompt,
        input_tokens_details: { cached_tokens: of.cached, cache_write_tokens: of.writes },
        output_tokens: of.completion,
        output_tokens_details: { reasoning_tokens: of.reasoning },
        total_tokens: of.prompt + of.completion,
        ...of.reported,
      })),
    ),
  })
  .map(({ reason, ...response }) => ({
    ...response,
    status: reason === null ? "completed" : "incomplete",
    incomplete_details: reason === null ? null : { reason },
    error: null,
  }));
