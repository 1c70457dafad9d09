import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { DialectName } from "../wire/dialect-names.ts";
import { HttpError } from "../wire/http-error.ts";
import { CODECS } from "./codecs.ts";
import { errorBody } from "./errors.ts";

const error = new HttpError(404, "the model `m` does not exist", {
  code: "model_not_found",
  param: "model",
  hint: "known names: auto",
});

it.each(["chat", "responses"] as const)("%s has OpenAI's shape and the hint", (dialect) => {
  expect(errorBody(dialect, error)).toEqual({
    error: {
      message: error.message,
      type: "invalid_request_error",
      param: "model",
      code: "model_not_found",
      hint: "known names: auto",
    },
  });
});

it("messages have Anthropic's shape, the code and the hint", () => {
  expect(errorBody("messages", error)).toEqual({
    type: "error",
    error: {
      type: "not_found_error",
      message: error.message,
      code: "model_not_found",
      details: { error_code: "model_not_found" },
      hint: "known names: auto",
    },
    request_id: null,
  });
});

it.each([
  [400, "invalid_request_error", "invalid_request_error"],
  [401, "authentication_error", "authentication_error"],
  [402, "invalid_request_error", "billing_error"],
  [413, "invalid_request_error", "request_too_large"],
  [429, "rate_limit_error", "rate_limit_error"],
  [500, "server_error", "api_error"],
  [503, "server_error", "overloaded_error"],
])("status %i is %s at OpenAI and %s at Anthropic", (status, openai, anthropic) => {
  const plain = { status, message: "m" };
  expect(errorBody("chat", plain)).toMatchObject({ error: { type: openai, code: null } });
  expect(errorBody("messages", plain)).toMatchObject({ error: { type: anthropic } });
});

describe("the official clients throw what a broken stream says", () => {
  const fetch = (dialect: DialectName) => async () => {
    const writer = CODECS[dialect].streamWriter();
    const problem = {
      message: "it broke off",
      type: "server_error",
      code: "broken",
      hint: "retry",
    };
    const text =
      writer.write({ type: "start", id: "x_1", model: "m" }) +
      writer.write({ type: "error", error: problem });
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const openai = (dialect: DialectName) =>
    new OpenAI({
      apiKey: "none",
      baseURL: "http://localhost/v1",
      fetch: fetch(dialect),
      maxRetries: 0,
    });
  const messages = [{ role: "user" as const, content: "hi" }];

  it("chat", async () => {
    const stream = openai("chat").chat.completions.stream({ model: "m", messages });
    await expect(stream.finalChatCompletion()).rejects.toMatchObject({
      code: "broken",
      type: "server_error",
    });
  });

  it("responses", async () => {
    const stream = openai("responses").responses.stream({ model: "m", input: "hi" });
    await expect(stream.finalResponse()).rejects.toMatchObject({ code: "broken" });
  });

  it("messages", async () => {
    const client = new Anthropic({ apiKey: "none", fetch: fetch("messages"), maxRetries: 0 });
    const stream = client.messages.stream({ model: "m", max_tokens: 9, messages });
    await expect(stream.finalMessage()).rejects.toMatchObject({
      error: {
        type: "error",
        error: { type: "api_error", message: "it broke off", hint: "retry" },
      },
    });
  });
});
