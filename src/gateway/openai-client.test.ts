import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { SANDBOX, sharedGateway, startFaultyUpstream, startGateway } from "./gateway.fixture.ts";
import { asReceived, asSent, REQUEST_BODIES } from "./providers/openai/request-bodies.fixture.ts";

const sandbox = sharedGateway(() => SANDBOX);

/** Tests with OpenAI's own client. */
const MESSAGES = [{ role: "user" as const, content: "Why is the sky blue?" }];

describe("the openai client", () => {
  it("chats, streams and calls tools", async () => {
    const { client, post } = sandbox();
    const openai = client();
    const models = await openai.models.list();
    expect(models.data.map(({ id }) => id)).toContain("auto");
    // Capabilities have the names of joust.yaml.
    expect(models.data.find(({ id }) => id === "quill-32b")).toMatchObject({
      capabilities: { context: 4096, tools: false, json_schema: false },
    });

    const { data, response } = await openai.chat.completions
      .create({ model: "auto", messages: MESSAGES })
      .withResponse();
    expect(data.choices[0]?.message.content).toContain("sandbox");
    expect(data.model).toBe(response.headers.get("x-joust-model"));
    expect(data.id).toBe(`chatcmpl-${response.headers.get("x-joust-decision-id")}`);
    expect(Number(response.headers.get("x-joust-cost"))).toBeGreaterThan(0);
    const vote = await post("/v1/feedback", { id: data.id, rating: 1 });
    expect(vote.json).toMatchObject({ status: "logged", models: [data.model] });

    const stream = await openai.chat.completions.create({
      model: "auto",
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const ids = new Set<string>();
    let usage: OpenAI.CompletionUsage | null | undefined;
    const notes: unknown[] = [];
    for await (const chunk of stream) {
      ids.add(chunk.id);
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
      if ("joust" in chunk) notes.push(chunk.joust);
    }
    expect(text).toContain("sandbox");
    expect(ids.size).toBe(1);
    expect(usage?.completion_tokens).toBeGreaterThan(5);
    const decision_id = [...ids][0]!.slice("chatcmpl-".length);
    expect(notes).toEqual([
      expect.objectContaining({ decision_id, router: "auto" }),
      { ...(notes[0] as object), cost: expect.any(Number) },
    ]);

    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "the weather of a city",
          parameters: { type: "object", properties: { city: { type: "string" } } },
        },
      },
    ];
    const called = await openai.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: "What is the weather in Paris?" }],
      tools,
      tool_choice: "required",
    });
    const [call] = called.choices[0]!.message.tool_calls!;
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } });
    const done = await openai.chat.completions.create({
      model: "auto",
      messages: [
        { role: "user", content: "What is the weather in Paris?" },
        called.choices[0]!.message,
        { role: "tool", tool_call_id: call!.id, content: "21 degrees" },
      ],
      tools,
    });
    expect(done.choices[0]!.message.content).toContain("21 degrees");
    expect(done.model).toBe(called.model); // kept inside the tool loop, without a session id
  });

  it("gets n answers, embeddings and completions of a named model", async () => {
    const { client } = sandbox();
    const openai = client();
    const many = await openai.chat.completions.create({ model: "auto", messages: MESSAGES, n: 3 });
    expect(many.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    const old = await openai.completions.create({ model: "pebble-mini", prompt: "Say hi" });
    expect(old.choices[0]?.text).toContain("sandbox");
    const vectors = await openai.embeddings.create({ model: "summit-pro", input: ["a", "b"] });
    expect(vectors.data).toHaveLength(2);
    const own = await openai.chat.completions.create({ model: "summit-pro", messages: MESSAGES });
    expect(own.model).toBe("summit-pro");
    expect(own).not.toHaveProperty("joust");
  });

  it("throws its own error classes", async () => {
    const { client } = sandbox();
    const openai = client();
    await expect(
      openai.chat.completions.create({ model: "gpt-9", messages: MESSAGES }),
    ).rejects.toThrow(OpenAI.NotFoundError);
    const empty = openai.chat.completions.create({ model: "auto", messages: [] });
    await expect(empty).rejects.toThrow(OpenAI.BadRequestError);
    await expect(empty).rejects.toMatchObject({ param: "messages", type: "invalid_request_error" });
  });

  it("stops the upstream by disconnecting", async () => {
    const host = await startFaultyUpstream();
    const { client } = await startGateway(
      `providers: {p: {url: "${host.url("endless")}"}, q: {url: "${host.url("hang")}"}}
models: {a: {provider: p}, b: {provider: q, retries: 0}}
routers: {auto: {models: [a]}}`,
    );
    const openai = client();
    const stream = await openai.chat.completions.create({
      model: "auto",
      messages: MESSAGES,
      stream: true,
    });
    for await (const _ of stream) break;
    stream.controller.abort();
    const abort = new AbortController();
    const waiting = openai.chat.completions.create(
      { model: "b", messages: MESSAGES },
      { signal: abort.signal },
    );
    await expect.poll(() => host.received.length).toBe(2);
    abort.abort();
    await expect(waiting).rejects.toThrow(OpenAI.APIUserAbortError);
    await expect.poll(() => host.abandoned()).toBe(2);
  });
});

describe("the request to the upstream", () => {
  it("has the client's bytes with the upstream's name of the model and without joust", async () => {
    const host = await startFaultyUpstream();
    const { post } = await startGateway(
      `providers: {p: {url: "${host.url("well")}"}}
models: {gpt-x: {provider: p, model: x-1}, gpt-3.5-turbo-0613: {provider: p, model: x-1}}
routers: {auto: {models: [gpt-x]}, a: {models: [gpt-x]}}`,
    );
    for (const [name, marked] of Object.entries(REQUEST_BODIES)) {
      const before = host.received.length;
      const { status, text } = await post("/v1/chat/completions", asSent(marked));
      // The request names no model, or has an unknown option in `joust`.
      const isRefused = /⟦null⟧|nested|u006fust/.test(marked);
      expect(`${name}: ${status}`).toBe(`${name}: ${isRefused ? 400 : 200}`);
      const received = host.received.slice(before).map(({ body }) => body.toString());
      if (isRefused) expect(received).toEqual([]);
      else if (text.startsWith("{")) expect(received).toEqual([asReceived(marked, "x-1")]);
      else expect(received[0]).toBe(asReceived(marked, "x-1")); // a stream whose client requests usage itself
    }
    for (const { headers } of host.received) expect(headers).not.toHaveProperty("authorization");
  });
});
