import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, sharedGateway, startGateway } from "./gateway.fixture.ts";

/** Duels that a client requests in a stream, as the official clients read them. */

const gateway = sharedGateway(() => SANDBOX);
const DUEL = { joust: { duel: true } };
const MESSAGES = [{ role: "user" as const, content: "Why do cats purr?" }];

/** The member `joust` of an answer, which the types of the clients do not have. */
const noteOf = (answer: object) =>
  (answer as { joust: { decision_id: string; second?: ReturnType<typeof JSON.parse> } }).joust;

describe("OpenAI's client", () => {
  it("reads both choices of a chat completion with their roles", async () => {
    const stream = gateway()
      .client()
      .chat.completions.stream({
        model: "auto",
        messages: MESSAGES,
        stream_options: { include_usage: true },
        ...DUEL,
      });
    const roles: [number, string][] = [];
    stream.on("chunk", ({ choices }) => {
      for (const { index, delta } of choices) if (delta.role) roles.push([index, delta.role]);
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices.map(({ message }) => message.role)).toEqual(["assistant", "assistant"]);
    for (const { message, finish_reason } of choices) {
      expect([message.content, finish_reason]).toEqual([
        expect.stringContaining("sandbox"),
        "stop",
      ]);
    }
    // Each choice names its role once; clients join repeated texts.
    expect(roles.toSorted()).toEqual([
      [0, "assistant"],
      [1, "assistant"],
    ]);
    expect(usage!.completion_tokens).toBeGreaterThan(10);
  });

  it("reads several choices of one model, which are no duel, and the note of a stream with usage", async () => {
    const openai = gateway().client();
    const request = { model: "auto", messages: MESSAGES, n: 2 };
    const stream = openai.chat.completions.stream({
      ...request,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    const whole = await openai.chat.completions.create(request);
    for (const answer of [streamed, whole]) {
      expect(answer.choices.map(({ index, message }) => [index, message.role])).toEqual([
        [0, "assistant"],
        [1, "assistant"],
      ]);
      const { decision_id, ...note } = noteOf(answer);
      expect(answer.id).toBe(`chatcmpl-${decision_id}`);
      expect(note).toMatchObject({ vote_token: expect.any(String), cost: expect.any(Number) });
      expect(note).not.toHaveProperty("duel");
      expect(answer.usage!.completion_tokens).toBeGreaterThan(10);
    }
  });

  it("has the second answer in its final response", async () => {
    const stream = gateway()
      .client()
      .responses.stream({ model: "auto", input: "Why do cats purr?", ...DUEL } as object);
    const types = new Set<string>();
    stream.on("event", ({ type }) => types.add(type));
    const final = await stream.finalResponse();
    expect([...types].filter((type) => !type.startsWith("response."))).toEqual([]);
    expect(final.output_text).toContain("sandbox");
    const { second, decision_id } = noteOf(final);
    expect(second.output[0].content[0].text).toContain("sandbox");
    expect(second.output[0].content[0].text).not.toBe(final.output_text);
    expect(final.output).toHaveLength(1);
    const { json } = await gateway().get(`/v1/decisions/${decision_id}/second`);
    // The usage of one answer would reveal its upstream, so the response has only the sum.
    expect(second).not.toHaveProperty("usage");
    expect(final.usage!.output_tokens).toBeGreaterThan(10);
    expect([second.status, second.completed_at]).toEqual(["completed", second.created_at]);
    expect(json.usage.output_tokens).toBe(Math.ceil(second.output[0].content[0].text.length / 4));
    expect(json).toEqual({
      ...second,
      usage: json.usage,
      joust: { decision_id, router: "auto", duel: true, slot: 1 },
    });
  });
});

describe("Anthropic's client", () => {
  it("gets the second answer in an event that it knows, and can fetch it", async () => {
    const { url, get, post } = gateway();
    const anthropic = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
    const stream = anthropic.messages.stream({
      model: "auto",
      max_tokens: 500,
      messages: MESSAGES,
      ...DUEL,
    });
    const seconds: ReturnType<typeof JSON.parse>[] = [];
    stream.on("streamEvent", (event) => {
      if (event.type === "message_delta") seconds.push(noteOf(event).second);
    });
    const final = await stream.finalMessage();
    expect(final.content).toMatchObject([{ text: expect.stringContaining("sandbox") }]);
    expect(seconds).toMatchObject([{ content: [{ text: expect.stringContaining("sandbox") }] }]);
    expect(seconds[0]).not.toHaveProperty("usage");
    const { decision_id } = noteOf(final);
    const { json } = await get(`/v1/decisions/${decision_id}/second`);
    expect(json).toMatchObject({ ...seconds[0], joust: { duel: true, slot: 1 } });
    expect(json.usage.output_tokens).toBeGreaterThan(10);
    const vote = await post("/v1/feedback", { id: final.id, winner: 1 });
    expect(vote.json).toMatchObject({ id: decision_id, status: "logged" });
  });
});

it("keeps the second answer if the first breaks off, and says so in the error", async () => {
  const host = await startDialectUpstream();
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 5, model: "up" };
  const chunk = (content: string, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  host.answer = ({ body }) =>
    body.model === "up-chat"
      ? { body: [chunk("Hel", null)], breaks: true }
      : { body: [chunk("Hello", null), chunk("", "stop")] };
  const other = "  other-model: {provider: chat-provider, model: other, retries: 0}\n";
  const yaml = `${host.yaml}${other}routers: {auto: {models: [chat-model, other-model]}}\n`;
  const { post, get } = await startGateway(yaml);
  const body = { model: "auto", max_tokens: 50, messages: MESSAGES, stream: true, ...DUEL };
  // Either model may be the first one.
  for (let i = 0; ; i++) {
    const { text, headers } = await post("/v1/messages", body);
    const last = eventsOf(text).at(-1);
    const second = await get(`/v1/decisions/${headers.get("x-joust-decision-id")}/second`);
    if (last.type !== "error") {
      expect(second.status).toBe(404);
      expect(i).toBeLessThan(40);
      continue;
    }
    expect(last.joust.second.content).toMatchObject([{ type: "text", text: "Hello" }]);
    expect(second.json.content).toEqual(last.joust.second.content);
    break;
  }
});

it.each([
  ["on request", DUEL, ""],
  ["later", {}, "duels: {mode: true, share: 1, spend: 1}, "],
])("numbers the error of a duel %s after the last event, in Responses", async (_, more, duels) => {
  const host = await startDialectUpstream();
  const delta = { content: "Hel" };
  const body = [{ id: "chatcmpl-1", choices: [{ index: 0, delta, finish_reason: null }] }];
  host.answer = () => ({ body, breaks: true });
  const other = "  other-model: {provider: chat-provider, model: other, retries: 0}\n";
  const models = "models: [chat-model, other-model]";
  const { post } = await startGateway(`${host.yaml}${other}routers: {auto: {${duels}${models}}}\n`);
  const request = { model: "auto", input: "Hi", stream: true, ...more };
  const events = eventsOf((await post("/v1/responses", request)).text);
  expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
  expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
});
