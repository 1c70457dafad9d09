import { describe, expect, it, onTestFinished } from "vitest";
import { HttpError } from "../../wire/http-error.ts";
import { JsonError, LARGE_BODY, scanRequest } from "../../wire/json.ts";
import { chat } from "../chat/chat.ts";
import type { Dialect } from "../dialect.ts";
import { messages } from "../messages/messages.ts";
import { responses } from "../responses/responses.ts";
import { BodyReader } from "./reader.ts";

const LONG = "word ".repeat(LARGE_BODY / 5);
const HEADERS = { "x-joust-session-id": "s1" };

function newReader(): BodyReader {
  const reader = new BodyReader();
  onTestFinished(() => reader.close());
  return reader;
}

const CONVERSATION = [
  { role: "user", content: "hi" },
  { role: "assistant", content: LONG },
  { role: "user", content: "Which of these words do you like best?" },
];

describe("a large body", () => {
  it.each<[Dialect, object]>([
    [chat, { model: "auto", n: 2, messages: CONVERSATION, tools: [{ type: "function" }] }],
    [messages, { model: "auto", max_tokens: 9, messages: CONVERSATION }],
    [responses, { model: "auto", stream: true, input: CONVERSATION }],
  ])("is read by another thread, with the same result ($name)", async (dialect, request) => {
    const body = Buffer.from(JSON.stringify(request));
    const bytes = Buffer.from(body);
    const here = dialect.read(scanRequest(bytes), HEADERS);
    const read = await newReader().read(dialect, body, HEADERS);
    // Its memory belongs to the thread, and comes back with the result.
    expect(body).toHaveLength(0);
    expect(Buffer.from(read.request.body).equals(bytes)).toBe(true);
    expect(read.conversation()).toEqual(here);
    expect(read.request.members.value("model")).toBe("auto");
    expect(read.request).toMatchObject({ model: "auto", endpoint: dialect.endpoint });
  });

  it("keeps its memory if another value shares it", async () => {
    const whole = Buffer.from(`  ${JSON.stringify({ model: "auto", messages: CONVERSATION })}`);
    const { request } = await newReader().read(chat, whole.subarray(2), {});
    expect(whole.length).toBeGreaterThan(LARGE_BODY);
    expect(Buffer.from(request.body).equals(whole.subarray(2))).toBe(true);
  });

  it.each([
    ["no JSON", `{"model": "auto", "messages": [${LONG}`, JsonError],
    ["a number as model", `{"model": 7, "messages": [], "more": "${LONG}"}`, HttpError],
    ["too many members", `{${'"a":1,'.repeat(60_000)}"model":"auto"}`, JsonError],
  ])("with %s is refused with the same error as a small one", async (_, text, kind) => {
    const reading = (async () => newReader().read(chat, Buffer.from(text), {}))();
    const error = await reading.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(kind);
    if (error instanceof HttpError) expect(error).toMatchObject({ status: 400, param: "model" });
  });

  it("without messages is refused only if it names a router", async () => {
    const text = JSON.stringify({ model: "gpt-3.5", more: LONG });
    const { request, conversation } = await newReader().read(chat, Buffer.from(text), {});
    expect(request.model).toBe("gpt-3.5");
    expect(conversation).toThrow(HttpError);
    expect(conversation).toThrow(/messages is missing/);
  });

  it("is read for endpoints without conversations", async () => {
    const body = Buffer.from(JSON.stringify({ model: "e", input: LONG }));
    const request = await newReader().readRequest("embeddings", body);
    expect(request).toMatchObject({ endpoint: "embeddings", model: "e", stream: false });
    expect(request.members.value("input")).toBe(LONG);
  });
});

it("a small body is read at once, where it is", async () => {
  const body = Buffer.from(JSON.stringify({ model: "auto", messages: CONVERSATION.slice(0, 1) }));
  const { request, conversation } = await newReader().read(chat, body, HEADERS);
  expect(request.body).toBe(body);
  expect(conversation()).toMatchObject({ prompt: "hi", options: { session_id: "s1" } });
});
