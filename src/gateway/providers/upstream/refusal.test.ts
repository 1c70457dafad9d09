import { describe, expect, it } from "vitest";
import { anthropic, openai, refused } from "./refusal.fixture.ts";

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

describe("codes decide before messages", () => {
  const QUOTED = [
    "This model's maximum context length is 5 tokens",
    "Unsupported parameter: 'temperature'",
    "this model does not support tools",
    "insufficient_quota",
  ];
  it.each(QUOTED)("invalid_value that quotes: %s", (text) => {
    const body = openai(`Invalid value: '${text}'.`, { code: "invalid_value", param: "user" });
    expect(refused(400, body)).toMatchObject({
      refusal: { kind: "request" },
      lesson: { kind: "request" },
      elsewhere: false,
    });
  });

  it.each([
    ["string_above_max_length", "messages[0].content", { kind: "context_length" }],
    ["string_above_max_length", "user", { kind: "request" }],
    [
      "integer_above_max_value",
      "max_tokens",
      { kind: "unsupported_parameter", parameters: [{ name: "max_tokens", max: 4096 }] },
    ],
    [
      "invalid_value",
      "messages[0].role",
      { kind: "unsupported_parameter", parameters: [{ name: "messages[0].role" }] },
    ],
  ])("%s of %s", (code, param, expected) => {
    const message = `Invalid '${param}'. Expected a value <= 4096, but got 5000 instead.`;
    expect(refused(400, openai(message, { code, param })).refusal).toEqual(expected);
  });
});

describe("a message that quotes the request", () => {
  const sent = (content: string, more: object = {}) =>
    Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...more }));

  it.each([
    ["This model's maximum context length is 600 tokens", "context_length"],
    ["say:\nUNSUPPORTED parameter: 'temperature'", "unsupported_parameter"],
    ["the model does not support tools", "unsupported_feature"],
    ["json mode cannot be combined with tools", "unsupported_feature"],
  ])("teaches nothing: %s", (text, kind) => {
    for (const quoted of [text, JSON.stringify(text), text.slice(0, -1), text.toLowerCase()]) {
      const error = refused(400, openai(`I cannot read ${quoted}`)).concerns(sent(text));
      expect(error.lesson).toEqual({ kind: "request" });
      // The request itself may still be answered by another model.
      expect(error.refusal?.kind).toBe(kind);
    }
  });

  it("does not count as a missing credit, which would open the circuit breaker", () => {
    const body = openai("I cannot read: insufficient_quota");
    expect(refused(400, body).fault).toBe("upstream");
    const error = refused(400, body).concerns(sent("insufficient_quota"));
    expect(error).toMatchObject({ refusal: { kind: "request" }, fault: "request" });
  });

  it.each([
    "insufficient_quota",
    "maximum context length is 600 tokens",
    "model does not support tools",
  ])("teaches nothing if it quotes the name of a member: %s", (name) => {
    const body = openai(`Unknown parameter: '${name}'.`, { code: "unknown_parameter" });
    for (const more of [{ [name]: 1 }, { tools: [], response_format: { [name]: {} } }]) {
      const { lesson, fault } = refused(400, body).concerns(sent("Hi", more));
      expect(["request", "unsupported_parameter"]).toContain(lesson?.kind);
      expect(fault).toBe("request");
    }
  });

  it("teaches what a host says with the names of its own members", () => {
    const more = { tools: [{}], response_format: {}, max_tokens: 5, functions: [] };
    const taught = (message: string) =>
      refused(400, openai(message)).concerns(sent("Hi", more)).lesson;
    expect(taught("Function calling with a response mime type is unsupported")).toEqual({
      kind: "unsupported_feature",
      feature: "schema_with_tools",
    });
    expect(taught("`response_format` is not supported by this model")).toMatchObject({
      kind: "unsupported_feature",
    });
    expect(taught("Unsupported parameter: 'max_tokens'")).toEqual({
      kind: "unsupported_parameter",
      parameters: [{ name: "max_tokens" }],
    });
  });

  it("with escapes in the request is recognised", () => {
    const body = Buffer.from('{"messages":[{"content":"does \\u006eot support t\\u006fols"}]}');
    const error = refused(400, openai("odd: does not support tools")).concerns(body);
    expect(error.lesson).toEqual({ kind: "request" });
  });

  it("teaches what the host says besides", () => {
    const message = "Unsupported parameter: 'top_k'. You sent: the model does not support tools";
    const error = refused(400, openai(message)).concerns(sent("the model does not support tools"));
    expect(error.lesson).toEqual({
      kind: "unsupported_parameter",
      parameters: [{ name: "top_k" }],
    });
    expect(error.refusal).toEqual(error.lesson);
  });

  it("names of members and words of the dialect are the host's own", () => {
    const format = { type: "json_schema", json_schema: { name: "s" } };
    const message =
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
    const error = refused(400, openai(message)).concerns(sent("hi", { response_format: format }));
    expect(error.lesson).toEqual({ kind: "unsupported_feature", feature: "json_schema" });
  });

  it("a request that is too large to compare teaches nothing", () => {
    const error = refused(400, openai("prompt is too long")).concerns(
      sent("x".repeat(5 * 2 ** 20)),
    );
    expect(error.lesson).toEqual({ kind: "request" });
    expect(error.refusal).toEqual({ kind: "context_length" });
  });
});
