import { describe, expect, it } from "vitest";
import { anthropic, openai, refused } from "./refusal.fixture.ts";
import { classifyRefusal } from "./refusal.ts";

describe("context length", () => {
  it.each([
    [
      400,
      openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130042 tokens. Please reduce the length of the messages.",
        { code: "context_length_exceeded" },
      ),
      128_000,
    ],
    [
      400,
      openai("Your input exceeds the context window of this model.", {
        code: "context_length_exceeded",
      }),
      undefined,
    ],
    [400, anthropic("prompt is too long: 208310 tokens > 200000 maximum"), 200_000],
    [
      400,
      anthropic(
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
      ),
      200_000,
    ],
    [
      400,
      {
        object: "error",
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
        code: 400,
      },
      4096,
    ],
    [
      400,
      {
        error: {
          code: 400,
          message: "the request exceeds the available context size, try increasing it",
          type: "exceed_context_size_error",
          n_ctx: 4096,
        },
      },
      undefined,
    ],
    [
      400,
      [
        {
          error: {
            code: 400,
            message:
              "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            status: "INVALID_ARGUMENT",
          },
        },
      ],
      1_048_576,
    ],
    [
      400,
      {
        message:
          "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      },
      32_768,
    ],
    [
      400,
      {
        message:
          "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000",
      },
      4081,
    ],
    [
      422,
      openai(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`",
      ),
      4097,
    ],
    [
      400,
      {
        error:
          "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
      },
      131_072,
    ],
    [400, { message: "Input is too long for requested model." }, undefined],
  ])("%d %j", (status, body, limit) => {
    const error = refused(status, body);
    expect(error.refusal).toEqual({ kind: "context_length", limit });
    expect(error).toMatchObject({ fault: "request", elsewhere: true, retryable: false });
    expect(error.clientStatus).toBe(status);
  });
});

describe("content filter", () => {
  it.each([
    [
      400,
      openai(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        { code: "content_filter" },
      ),
    ],
    [
      400,
      openai("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", {
        code: "invalid_prompt",
      }),
    ],
    [400, anthropic("Output blocked by content filtering policy")],
    [400, { error: { message: "Content Exists Risk", type: "invalid_request_error" } }],
    [403, { error: { message: "x requires moderation on y. Your input was flagged", code: 403 } }],
    [
      403,
      {
        code: "The caller does not have permission",
        error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE",
      },
    ],
  ])("%d %j", (status, body) => {
    const error = refused(status, body);
    expect(error.refusal).toEqual({ kind: "content_filter" });
    expect(error).toMatchObject({ fault: "request", elsewhere: true, clientStatus: 400 });
  });
});

describe("unsupported feature", () => {
  it.each([
    ["vision", 400, openai("Invalid content type. image_url is only supported by certain models.")],
    [
      "vision",
      404,
      { error: { message: "No endpoints found that support image input", code: 404 } },
    ],
    ["vision", 400, { object: "error", message: "/models/llama is not a multimodal model" }],
    ["vision", 400, openai("this model does not support image input")],
    ["tools", 400, openai("registry.ollama.ai/library/gemma:2b does not support tools")],
    [
      "tools",
      404,
      { error: { message: "No endpoints found that support tool use. To learn more", code: 404 } },
    ],
    [
      "tools",
      400,
      {
        object: "error",
        message:
          '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      },
    ],
    [
      "json_schema",
      400,
      openai(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        { param: "response_format" },
      ),
    ],
    ["json_schema", 400, openai("This model does not support response format `json_schema`.")],
    [
      "json_schema",
      400,
      anthropic(
        "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported",
      ),
    ],
    ["json_schema", 400, anthropic("output_config.format: Extra inputs are not permitted")],
    [
      "json_schema",
      400,
      anthropic("The compiled grammar is too large, which would cause performance issues."),
    ],
    ["json_schema", 400, anthropic("Schemas contains too many optional parameters (30).")],
    [
      "schema_with_tools",
      400,
      [
        {
          error: {
            code: 400,
            message:
              "Function calling with a response mime type: 'application/json' is unsupported",
          },
        },
      ],
    ],
    ["schema_with_tools", 400, openai("json mode cannot be combined with tool/function calling")],
  ] as const)("%s: %d %j", (feature, status, body) => {
    const error = refused(status, body);
    expect(error.refusal).toEqual({ kind: "unsupported_feature", feature });
    expect(error).toMatchObject({ fault: "request", elsewhere: true, clientStatus: 400 });
  });
});

describe("unsupported parameter", () => {
  it.each([
    [
      400,
      openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: "max_tokens", code: "unsupported_parameter" },
      ),
      [{ name: "max_tokens", instead: "max_completion_tokens" }],
    ],
    [
      400,
      openai(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        { param: "temperature", code: "unsupported_value" },
      ),
      [{ name: "temperature" }],
    ],
    [
      400,
      openai(
        "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
        { param: "messages[0].role", code: "unsupported_value" },
      ),
      [{ name: "messages[0].role" }],
    ],
    [
      400,
      openai("Unrecognized request argument supplied: prompt_cache_key"),
      [{ name: "prompt_cache_key" }],
    ],
    [
      400,
      openai("Unknown parameter: 'verbosity'.", { param: "verbosity", code: "unknown_parameter" }),
      [{ name: "verbosity" }],
    ],
    [
      422,
      {
        object: "error",
        message: {
          detail: [
            {
              type: "extra_forbidden",
              loc: ["body", "store"],
              msg: "Extra inputs are not permitted",
              input: true,
            },
            {
              type: "extra_forbidden",
              loc: ["body", "metadata"],
              msg: "Extra inputs are not permitted",
            },
          ],
        },
        type: "invalid_request_error",
      },
      [{ name: "store" }, { name: "metadata" }],
    ],
    [400, anthropic("store: Extra inputs are not permitted"), [{ name: "store" }]],
    [400, anthropic("invalid beta flag"), [{ name: "anthropic-beta" }]],
    [
      400,
      anthropic(
        "Unexpected value(s) `a-2026-01-05`, `claude-code-20250219` for the `anthropic-beta` header. Please consult our documentation at docs.anthropic.com or try again without the header.",
      ),
      [{ name: "anthropic-beta", values: ["a-2026-01-05", "claude-code-20250219"] }],
    ],
    [
      400,
      anthropic("tools.11.custom.defer_loading: Extra inputs are not permitted"),
      [{ name: "tools.11.custom.defer_loading" }],
    ],
    [
      400,
      anthropic("`temperature` and `top_p` cannot both be specified for this model."),
      [{ name: "temperature" }],
    ],
    [
      400,
      anthropic("`temperature` may only be set to 1 when thinking is enabled."),
      [{ name: "temperature" }],
    ],
    [
      400,
      anthropic(
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet",
      ),
      [{ name: "max_tokens", max: 8192 }],
    ],
    [
      400,
      openai(
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
      ),
      [{ name: "max_tokens", max: 16_384 }],
    ],
    [
      400,
      openai(
        "`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model",
      ),
      [{ name: "max_tokens", max: 32_768 }],
    ],
    [
      400,
      openai(
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      ),
      [{ name: "reasoning_content" }],
    ],
    [
      400,
      { error: "Argument not supported on this model: presencePenalty" },
      [{ name: "presencePenalty" }],
    ],
  ])("%d %j", (status, body, parameters) => {
    expect(refused(status, body).refusal).toEqual({ kind: "unsupported_parameter", parameters });
  });
});

it("finds the refused parameter also if the request has words of its path", () => {
  const message = "tools.0.custom.defer_loading: Extra inputs are not permitted";
  const sent = Buffer.from(JSON.stringify({ system: "custom.defer_loading", tools: [] }));
  expect(classifyRefusal(400, { message, fields: [] }, sent)).toEqual({
    refusal: {
      kind: "unsupported_parameter",
      parameters: [{ name: "tools.0.custom.defer_loading" }],
    },
    lesson: { kind: "request" },
  });
});

it("reads a long word once", () => {
  const message = `Invalid value for name: ${"x".repeat(20_000)}`;
  expect(classifyRefusal(400, { message, fields: [] }, undefined).refusal.kind).toBe("request");
});
