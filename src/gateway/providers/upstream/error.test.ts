import { describe, expect, it } from "vitest";
import { parsed } from "../../wire/json.ts";
import { factsOf } from "./error-facts.ts";
import { anthropic, openai, refused } from "./refusal.fixture.ts";

it.each([
  [
    429,
    openai("You exceeded your current quota, please check your plan and billing details.", {
      type: "insufficient_quota",
      code: "insufficient_quota",
    }),
  ],
  [400, anthropic("Your credit balance is too low to access the Anthropic API.")],
  [402, { error: { message: "Insufficient credits", code: 402 } }],
])("an account without credit is not called again at once: %d %j", (status, body) => {
  const error = refused(status, body);
  expect(error.refusal).toEqual({ kind: "quota" });
  expect(error).toMatchObject({
    fault: "upstream",
    elsewhere: true,
    retryable: false,
    clientStatus: 502,
  });
});

it.each([
  [
    400,
    openai(
      "Invalid type for 'messages[0].content': expected a string, but got an integer instead.",
      { param: "messages[0].content", code: "invalid_type" },
    ),
  ],
  [400, openai("'temperature' must be between 0 and 2", { param: "temperature" })],
  [
    422,
    {
      detail: [{ loc: ["body", "messages", 0, "content"], msg: "Field required", type: "missing" }],
    },
  ],
  [
    400,
    openai("Invalid 'tools[0].function.name': string does not match pattern.", {
      param: "tools[0].function.name",
      code: "invalid_value",
    }),
  ],
])("the request's own fault is not sent elsewhere: %d %j", (status, body) => {
  const error = refused(status, body);
  expect(error.refusal).toEqual({ kind: "request" });
  expect(error).toMatchObject({ fault: "request", elsewhere: false, clientStatus: status });
});

it.each([429, 500, 529])(
  "a busy or broken upstream (%d) is retried, whatever its message says",
  (status) => {
    const error = refused(status, openai("the context window of the load balancer is full"));
    expect(error).toMatchObject({ fault: "upstream", elsewhere: true, retryable: true });
  },
);

describe("details of a 4xx reach the client", () => {
  it.each([
    [
      {
        detail: [
          { loc: ["body", "messages", 0, "content"], msg: "Field required", type: "missing" },
        ],
      },
      "messages.0.content: Field required",
    ],
    [{ message: "invalid request: no messages" }, "invalid request: no messages"],
    [{ detail: "Not a valid chat" }, "Not a valid chat"],
    [{ error: "bad input" }, "bad input"],
    [{ errors: ["first", "second"] }, "first"],
    [{ code: 7, reason: "odd" }, '{"code":7,"reason":"odd"}'],
    ["just text", "just text"],
    ["<html><title>Request blocked</title></html>", "Request blocked"],
  ])("%j", (body, message) => {
    const error = refused(422, body);
    const { error: sent } = JSON.parse(error.toJson());
    expect(sent.message).toBe(`host answered 422: ${message}`);
    expect(sent.upstream).toEqual(typeof body === "string" ? undefined : body);
  });

  it("an error in OpenAI's shape is passed on as it is", () => {
    const body = openai("no", { param: "messages", extra: { a: 1 } });
    expect(JSON.parse(refused(400, body).toJson())).toEqual(body);
  });
});

it("facts of a body that is not JSON are its text", () => {
  expect(factsOf(parsed("no"), "no")).toEqual({ message: "no", fields: [] });
});
