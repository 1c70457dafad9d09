import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

/** Tests that a request is handled in the same way in each dialect. */

const DOORS: readonly [DialectName, string, (text: string) => object][] = [
  [
    "chat",
    "/v1/chat/completions",
    (content) => ({ messages: [{ role: "user", content }], max_tokens: 9 }),
  ],
  ["responses", "/v1/responses", (input) => ({ input, max_output_tokens: 9 })],
  [
    "messages",
    "/v1/messages",
    (content) => ({ messages: [{ role: "user", content }], max_tokens: 9 }),
  ],
];
const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "up",
  choices: [{ index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 },
};

describe.each(DOORS)("%s", (dialect, path, request) => {
  const ask = (text: string, more: object = {}) => ({ model: "auto", ...request(text), ...more });

  it("falls back if a model sends something that is no answer", async () => {
    const host = await startDialectUpstream();
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {models: [chat-model, ${dialect === "messages" ? "responses" : "messages"}-model]}}\n`,
    );
    for (const broken of [{}, { choices: [] }, { content: null, output: null }]) {
      host.answer = (_, own) => ({ body: own === "chat" ? COMPLETION : broken });
      const { status, json } = await gateway.post(path, ask("Hi"));
      expect([status, json.joust.model]).toEqual([200, "chat-model"]);
    }
    // A stream that ends before its first event is no answer either.
    host.answer = (_, own) =>
      own === "chat"
        ? {
            body: [
              {
                ...COMPLETION,
                object: "chat.completion.chunk",
                choices: [{ index: 0, delta: { content: "fine" }, finish_reason: "stop" }],
              },
            ],
          }
        : { body: ": nothing\n\n" };
    const streamed = await gateway.post(path, ask("Hi", { stream: true }));
    expect(streamed.text).toContain("fine");
  });

  it("refuses a request above the budget, and counts answers against it", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: COMPLETION });
    const key = "k".repeat(16);
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {models: [chat-model]}}\nkeys: {ann: {key: ${key}, budget: 1}}\n`,
    );
    const headers =
      dialect === "messages" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
    const send = () => gateway.post(path, ask("Hi"), headers as Record<string, string>);
    // An answer costs one dollar.
    expect((await send()).json.joust.cost).toBe(1);
    const refused = await send();
    expect([refused.status, refused.json.error.code]).toEqual([429, "insufficient_quota"]);
    const shape = dialect === "messages" ? { type: "error" } : { error: { param: null } };
    expect(refused.json).toMatchObject(shape);
  });

  it("limits the rate and does not repeat a provider's key", async () => {
    const host = await startDialectUpstream();
    const secret = "sk-very-secret-key-0123456789";
    host.answer = ({ headers }) => ({
      status: 400,
      body: { error: { message: `bad request with ${headers.authorization}` } },
    });
    const yaml = host.yaml.replace("chat-provider: {", `chat-provider: {key: "${secret}", `);
    const gateway = await startGateway(`${yaml}server: {rate: 2}\n`);
    const refused = await gateway.post(path, ask("Hi", { model: "chat-model" }));
    expect(host.received[0]!.headers.authorization).toBe(`Bearer ${secret}`);
    expect(refused.status).toBe(400);
    expect(refused.text).not.toContain(secret);
    expect(gateway.lines.join("")).not.toContain(secret);
    await gateway.post(path, ask("Hi", { model: "chat-model" }));
    const limited = await gateway.post(path, ask("Hi", { model: "chat-model" }));
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
    expect(limited.json.error.type).toBe("rate_limit_error");
  });

  it("keeps a session's model, logs the decision and accepts votes by the answer's id", async () => {
    // No gain is large enough for another model.
    const routers = "routers: {auto: {session_margin: 1}}";
    const gateway = await startGateway(`${SANDBOX}\nstore: {prompts: true}\n${routers}`);
    const options = { joust: { session_id: "s1" } };
    const first = await gateway.post(path, ask("Why is the sky blue?", options));
    const { model, decision_id: id } = first.json.joust;
    const shown = await gateway.get(`/v1/decisions/${first.json.id}`);
    expect(shown.json).toMatchObject({ id, session_id: "s1", prompt: "Why is the sky blue?" });
    expect(shown.json.answers[0]).toMatchObject({ model, status: "ok" });
    const vote = { id: first.json.id, rating: 1 };
    expect((await gateway.post("/v1/feedback", vote)).json.status).toBe("logged");
    const streamed = await gateway.post(path, ask("And red?", { ...options, stream: true }));
    expect(streamed.text).toContain(model);
    expect(eventsOf(streamed.text).length).toBeGreaterThan(3);
  });

  it("stops the model when the client disconnects", async () => {
    const gateway = await startGateway("sandbox: {speed: 0.01}");
    const leaving = new AbortController();
    const pending = fetch(`${gateway.url}${path}`, {
      method: "POST",
      body: JSON.stringify(ask("Why is the sky blue?")),
      signal: leaving.signal,
    });
    // The request has arrived when its decision is logged.
    while ((await gateway.get("/v1/decisions")).json.data.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    leaving.abort();
    await expect(pending).rejects.toThrow();
    let [decision] = (await gateway.get("/v1/decisions")).json.data;
    while (decision.answers.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      [decision] = (await gateway.get("/v1/decisions")).json.data;
    }
    expect(decision.answers[0].status).not.toBe("ok");
  });
});
