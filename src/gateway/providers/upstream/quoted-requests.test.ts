import { describe, expect, it } from "vitest";
import { openai, refused } from "./refusal.fixture.ts";

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

  it("teaches what an upstream says with the names of its own members", () => {
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

  it("teaches what the upstream states besides the quotation", () => {
    const message = "Unsupported parameter: 'top_k'. You sent: the model does not support tools";
    const error = refused(400, openai(message)).concerns(sent("the model does not support tools"));
    expect(error.lesson).toEqual({
      kind: "unsupported_parameter",
      parameters: [{ name: "top_k" }],
    });
    expect(error.refusal).toEqual(error.lesson);
  });

  it("names of members and words of the dialect are the upstream's own", () => {
    const format = { type: "json_schema", json_schema: { name: "s" } };
    const message =
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
    const error = refused(400, openai(message)).concerns(sent("hi", { response_format: format }));
    expect(error.lesson).toEqual({ kind: "unsupported_feature", feature: "json_schema" });
  });

  it.each([5, 1.1])("a request of %s MB is too large to compare and teaches nothing", (size) => {
    const error = refused(400, openai("prompt is too long")).concerns(
      sent("x".repeat(size * 2 ** 20)),
    );
    expect(error.lesson).toEqual({ kind: "request" });
    expect(error.refusal).toEqual({ kind: "context_length" });
  });

  it("a long request is compared", () => {
    const lesson = (end: string) => {
      const message = `cannot answer ${end}: prompt is too long`;
      return refused(400, openai(message)).concerns(sent(`${"many words ".repeat(80_000)}${end}`))
        .lesson;
    };
    expect(lesson("this")).toEqual({ kind: "context_length" });
    expect(lesson("prompt is too long")).toEqual({ kind: "request" });
  });

  it("letters that fill both texts count as a repetition", () => {
    const filler = "prompt is too long ";
    const message = filler.repeat(20);
    const error = refused(400, openai(message)).concerns(sent(filler.repeat(50_000)));
    expect(error.lesson).toEqual({ kind: "request" });
  });
});
