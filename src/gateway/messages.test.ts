import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, sharedGateway, startGateway } from "./gateway.fixture.ts";

const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 85,
  output_tokens: 7,
};
const message = (content: object[], stop_reason = "end_turn") => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up-1",
  content,
  stop_reason,
  stop_sequence: null,
  usage: USAGE,
});
const ask = (content: unknown, more: object = {}) => ({
  model: "auto",
  max_tokens: 100,
  messages: [{ role: "user", content }],
  ...more,
});
const streamOf = (blocks: object[]) => [
  {
    type: "message_start",
    message: { ...message([]), stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
  },
  { type: "ping" },
  ...blocks,
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 7 },
  },
  { type: "message_stop" },
];
const TEXT_BLOCKS = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
  { type: "content_block_stop", index: 0 },
];

const anthropic = (url: string, apiKey = "none") =>
  new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });

describe("an upstream that speaks Messages", () => {
  const only = (yaml: string) => `${yaml}routers: {auto: {models: [messages-model]}}\n`;

  it("gets the client's bytes and headers, and the client its answer with labels", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: message([{ type: "text", text: "Hello", citations: null }]) });
    const gateway = await startGateway(only(host.yaml));
    const body = ask(
      [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }],
      {
        thinking: { type: "enabled", budget_tokens: 2000 },
        future: { member: 1.0 },
      },
    );
    const { status, json, headers } = await gateway.post("/v1/messages?beta=true", body, {
      "x-api-key": "k",
      "anthropic-version": "2099-01-01",
      "anthropic-beta": "a-1,b-2",
    });
    expect(status).toBe(200);
    const [got] = host.received;
    expect(got!.path).toBe("/messages/v1/messages");
    expect(got!.body).toEqual({ ...body, model: "up-messages" });
    expect(got!.headers).toMatchObject({
      "anthropic-version": "2099-01-01",
      "anthropic-beta": "a-1,b-2",
    });
    expect(json).toMatchObject({
      id: `msg_${json.joust.decision_id}`,
      model: "messages-model",
      content: [{ type: "text", text: "Hello", citations: null }],
      usage: USAGE,
      joust: { router: "auto", model: "messages-model", vote_token: expect.any(String) },
    });
    // 10 + 5 + 85 tokens at 1 dollar and 7 at 2 dollars per million
    expect(json.joust.cost).toBeCloseTo(114e-6, 12);
    expect(headers.get("x-joust-decision-id")).toBe(json.joust.decision_id);
    const vote = { id: json.joust.decision_id, winner: 0 };
    expect((await gateway.post("/v1/feedback", vote)).status).toBeLessThan(500);
  });

  it("streams its own events, with labels in the first and the cost beside the usage", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: streamOf(TEXT_BLOCKS) });
    const gateway = await startGateway(only(host.yaml));
    const { text } = await gateway.post("/v1/messages", ask("Hi", { stream: true }));
    const events = eventsOf(text);
    expect(events.map(({ type }) => type)).toEqual(
      // The ping before the first text is passed on, because the answer has begun.
      streamOf(TEXT_BLOCKS).map((event) => (event as { type: string }).type),
    );
    expect(events[0].message).toMatchObject({
      model: "messages-model",
      joust: { decision_id: expect.any(String), model: "messages-model" },
    });
    expect(events.at(-2).joust.cost).toBeCloseTo(114e-6, 12);
    const sdk = anthropic(gateway.url);
    const final = await sdk.messages
      .stream(ask("Hi") as unknown as Anthropic.MessageStreamParams)
      .finalMessage();
    expect(final).toMatchObject({ content: [{ text: "Hello" }], usage: { output_tokens: 7 } });
  });

  it("counts tokens; others are estimated, and the estimate says so", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: { input_tokens: 42 } });
    const gateway = await startGateway(host.yaml);
    const count = { model: "messages-model", messages: [{ role: "user", content: "Hi" }] };
    const counted = await gateway.post("/v1/messages/count_tokens", count);
    expect(counted.json).toEqual({ input_tokens: 42 });
    expect(host.received[0]!.path).toBe("/messages/v1/messages/count_tokens");
    const routed = await gateway.post("/v1/messages/count_tokens", { ...count, model: "auto" });
    expect(routed.json).toEqual({ input_tokens: 42 });
    const other = await gateway.post("/v1/messages/count_tokens", {
      ...count,
      model: "chat-model",
    });
    expect(other.json).toEqual({ input_tokens: expect.any(Number), joust: { estimated: true } });
    expect(host.received).toHaveLength(2);
    host.answer = () => ({ status: 503, body: {} });
    const down = await gateway.post("/v1/messages/count_tokens", count);
    expect(down.json.joust).toEqual({ estimated: true });
  });

  it("counts tokens neither by a disabled model nor by one that the key may not use", async () => {
    const host = await startDialectUpstream();
    host.answer = ({ body }) => ({ body: { input_tokens: body.model === "up-messages" ? 1 : 2 } });
    const other = "  other: {provider: messages-provider, model: up-other, retries: 0";
    const routers = "routers: {auto: {models: [messages-model, other, chat-model]}}\n";
    const key = "0123456789abcdef";
    const keys = `keys: {few: {key: ${key}, models: [other], routers: [auto]}}\n`;
    const count = { model: "auto", messages: [{ role: "user", content: "Hi" }] };
    const limited = await startGateway(`${host.yaml}${other}}\n${routers}${keys}`);
    const headers = { authorization: `Bearer ${key}` };
    const counted = await limited.post("/v1/messages/count_tokens", count, headers);
    expect(counted.json).toEqual({ input_tokens: 2 });
    const yaml = host.yaml.replace("model: up-messages,", "model: up-messages, enabled: false,");
    const first = await startGateway(`${yaml}${other}}\n${routers}`);
    expect((await first.post("/v1/messages/count_tokens", count)).json).toEqual({
      input_tokens: 2,
    });
    const both = await startGateway(`${yaml}${other}, enabled: false}\n${routers}`);
    const estimated = await both.post("/v1/messages/count_tokens", count);
    expect(estimated.json.joust).toEqual({ estimated: true });
    expect(host.received).toHaveLength(2);
  });
});

describe("errors have Anthropic's shape", () => {
  it("before the answer: of the gateway and of the upstream", async () => {
    const host = await startDialectUpstream();
    const gateway = await startGateway(host.yaml);
    const types = async (body: unknown, path = "/v1/messages") => {
      const { status, json } = await gateway.post(path, body);
      return [status, json.type, json.error.type];
    };
    expect(await types("{")).toEqual([400, "error", "invalid_request_error"]);
    expect(await types(ask("Hi", { model: "nope" }))).toEqual([404, "error", "not_found_error"]);
    expect(await types({ model: "auto", max_tokens: 1 })).toEqual([
      400,
      "error",
      "invalid_request_error",
    ]);
    const refuse = (status: number, body: object) => {
      host.answer = () => ({ status, body });
    };
    const named = ask("Hi", { model: "messages-model" });
    refuse(400, { type: "error", error: { type: "invalid_request_error", message: "bad block" } });
    const refused = await gateway.post("/v1/messages", named);
    expect(refused.json).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error", message: "bad block" },
    });
    refuse(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    expect(await types(named)).toEqual([529, "error", "overloaded_error"]);
    refuse(429, { error: { message: "slow down" } });
    expect(await types(ask("Hi", { model: "chat-model" }))).toEqual([
      429,
      "error",
      "rate_limit_error",
    ]);
    const wrongMethod = await gateway.get("/v1/messages");
    expect([wrongMethod.status, wrongMethod.json.type]).toEqual([405, "error"]);
    const unknown = await gateway.post("/v1/messages/batches", {});
    expect([unknown.status, unknown.json.error.type]).toEqual([404, "not_found_error"]);
    refuse(401, { error: { message: "no key" } });
    expect(await types(ask("Hi", { model: "chat-model" }))).toEqual([502, "error", "api_error"]);
  });

  it("with Anthropic's details, so that its clients can send the conversation without a thread", async () => {
    const host = await startDialectUpstream();
    const lost = { error_code: "thread_not_found" };
    host.answer = () => ({
      status: 404,
      body: { type: "error", error: { type: "not_found_error", message: "lost", details: lost } },
    });
    const gateway = await startGateway(`${host.yaml}routers: {auto: {}}\n`);
    for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
      for (const model of ["auto", "chat-model"]) {
        const refused = await gateway.post("/v1/messages", ask("Hi", { model, thread }));
        const details = { error_code: "thread_unsupported_request" };
        expect([refused.status, refused.json.error.details]).toEqual([400, details]);
      }
    }
    expect(host.received).toEqual([]);
    const thread = { type: "continue", previous_message_id: "msg_1" };
    const own = await gateway.post("/v1/messages", ask("Hi", { model: "messages-model", thread }));
    expect(own.json.error.details).toEqual(lost);
    expect(host.received[0]!.body.thread).toEqual(thread);
  });

  it("inside a stream", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: streamOf(TEXT_BLOCKS).slice(0, 4), breaks: true });
    const gateway = await startGateway(host.yaml);
    for (const model of ["auto", "messages-model"]) {
      host.answer = (_, dialect) =>
        dialect === "messages"
          ? { body: streamOf(TEXT_BLOCKS).slice(0, 4), breaks: true }
          : { status: 500, body: {} };
      const { text } = await gateway.post("/v1/messages", ask("Hi", { model, stream: true }));
      expect(text).toContain("event: error\n");
      expect(eventsOf(text).at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } });
      const sdk = anthropic(gateway.url);
      const stream = sdk.messages.stream(
        ask("Hi", { model }) as unknown as Anthropic.MessageStreamParams,
      );
      await expect(stream.finalMessage()).rejects.toThrow();
    }
  });

  it("without a key, and the key may be an x-api-key", async () => {
    const gateway = await startGateway(`${SANDBOX}\nkeys: {a: {key: "0123456789abcdef"}}`);
    const refused = await gateway.post("/v1/messages", ask("Hi"));
    expect([refused.status, refused.json.error.type]).toEqual([401, "authentication_error"]);
    const fine = await gateway.post("/v1/messages", ask("Hi"), { "x-api-key": "0123456789abcdef" });
    expect(fine.status).toBe(200);
  });
});

describe("the sandbox", () => {
  const gateway = sharedGateway(() => `${SANDBOX}\nrouters: {auto: {aliases: ["claude-*"]}}`);
  const client = () => anthropic(gateway().url);
  const text = (content: string) => ({
    model: "claude-sonnet-9",
    max_tokens: 200,
    messages: [{ role: "user" as const, content }],
  });

  it("answers Anthropic's client under an alias, complete and as a stream", async () => {
    const answer = await client().messages.create(text("Why is the sky blue?"));
    expect(answer.content[0]).toMatchObject({ type: "text", text: expect.stringMatching(/\w/) });
    expect(answer).toMatchObject({ joust: { router: "auto" }, stop_reason: "end_turn" });
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
    const streamed = await client().messages.stream(text("Why is the sky blue?")).finalMessage();
    expect(streamed).toMatchObject({ joust: { router: "auto" }, stop_reason: "end_turn" });
    expect(streamed.usage.output_tokens).toBeGreaterThan(0);
  });

  it("calls tools, keeps its model in the loop and answers", async () => {
    const tools = [
      {
        name: "weather",
        input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
      },
    ];
    const question = { ...text("What is the weather in Paris?"), tools };
    const first = await client().messages.create({
      ...question,
      tool_choice: { type: "tool", name: "weather" },
    });
    const call = first.content.find((block) => block.type === "tool_use")!;
    expect(first.stop_reason).toBe("tool_use");
    const second = await client().messages.create({
      ...question,
      messages: [
        ...question.messages,
        { role: "assistant", content: first.content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: call.id, content: "21 degrees" },
            { type: "text", text: "<system-reminder>Be brief.</system-reminder>" },
          ],
        },
      ],
    });
    const model = (answer: Anthropic.Message) =>
      (answer as unknown as { joust: { model: string } }).joust.model;
    expect(model(second)).toBe(model(first));
  });

  it("gives two answers to a request for a duel, and a vote on them is accepted", async () => {
    const { json } = await gateway().post("/v1/messages", {
      ...text("Write a poem."),
      joust: { duel: true },
    });
    expect(json).toMatchObject({
      model: "claude-sonnet-9",
      joust: { duel: true, second: { type: "message", content: [{ type: "text" }] } },
    });
    expect(json.joust).not.toHaveProperty("model");
    const voted = await gateway().post("/v1/feedback", { id: json.joust.decision_id, winner: 1 });
    expect(voted.status).toBe(200);
    const { text: stream } = await gateway().post("/v1/messages", {
      ...text("Write a poem."),
      stream: true,
      joust: { duel: true },
    });
    const events = eventsOf(stream);
    expect(events[0].message.joust).toMatchObject({ duel: true });
    const content = [{ type: "text", text: expect.stringMatching(/\w/) }];
    expect(events.at(-2)).toMatchObject({
      type: "message_delta",
      joust: { second: { type: "message", content } },
    });
    expect(events.at(-1).type).toBe("message_stop");
  });
});

it("a limit of tokens that Anthropic requires does not exclude models with a small context", async () => {
  const gateway = await startGateway(SANDBOX);
  const { status } = await gateway.post("/v1/messages", ask("Hi", { max_tokens: 128_000 }));
  expect(status).toBe(200);
  const long = ask("Hi ".repeat(1_000_000), { max_tokens: 128_000 });
  expect((await gateway.post("/v1/messages", long)).json.error.code).toBe("no_capable_model");
});
