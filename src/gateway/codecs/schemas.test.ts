import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatRequest } from "../../api/chat.ts";
import { CountTokensRequest, MessagesRequest } from "../../api/messages.ts";
import { ResponsesRequest } from "../../api/responses.ts";
import { chatRequest } from "./chat-wire.fixture.ts";
import { messagesRequest } from "./messages-wire.fixture.ts";
import { responsesRequest } from "./responses-wire.fixture.ts";

describe.each([
  ["chat", ChatRequest, chatRequest],
  ["responses", ResponsesRequest, responsesRequest],
  ["messages", MessagesRequest, messagesRequest],
  ["count_tokens", CountTokensRequest, messagesRequest],
] as const)("the schema of %s", (_, schema, request) => {
  it("accepts and keeps everything that the SDK can send, and unknown members", () => {
    fc.assert(
      fc.property(
        request as fc.Arbitrary<object>,
        fc.dictionary(fc.string(), fc.jsonValue()),
        (body, unknown) => {
          const sent = JSON.parse(JSON.stringify({ x_unknown: unknown, ...body }));
          expect(schema.parse(sent)).toEqual(sent);
        },
      ),
      { seed: 3, numRuns: 100 },
    );
  });

  it.each([
    {},
    { model: 1 },
    { model: "m", messages: 1, input: 1 },
    { model: "m", messages: [], input: [1] },
  ])("refuses %j", (body) => {
    expect(schema.safeParse(body).success).toBe(false);
  });
});

it("max_tokens is required in a Messages request, but not in a request to count tokens", () => {
  const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
  expect(MessagesRequest.safeParse(body).error?.issues[0]?.path).toEqual(["max_tokens"]);
  expect(CountTokensRequest.safeParse(body).success).toBe(true);
});

it("options of the router are checked in all dialects", () => {
  const joust = { dual: true };
  const body = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }], joust };
  for (const schema of [ChatRequest, ResponsesRequest, MessagesRequest]) {
    expect(schema.safeParse(body).success).toBe(false);
  }
});
