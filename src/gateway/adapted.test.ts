import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { chat, startGateway } from "./gateway.fixture.ts";
import { type PickyModel, startPicky } from "./providers/picky.fixture.ts";

async function startPool(models: readonly PickyModel[], router = "") {
  const host = await startPicky();
  onTestFinished(() => host.close());
  const providers = models.map(
    (name) =>
      `  ${name}: {url: "${host.url(name)}", dialect: ${name === "claude" ? "anthropic" : "openai"}}`,
  );
  const entries = models.map(
    (name, i) => `  ${name}: {provider: ${name}, price: {input: ${i}, output: ${i}}}`,
  );
  const gateway = await startGateway(`
providers:
${providers.join("\n")}
models:
${entries.join("\n")}
routers:
  auto: {cost_quality_tradeoff: 10, explore: 0${router}}
`);
  return { host, gateway };
}

const TOOL = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} } },
};
const SCHEMA = {
  type: "json_schema",
  json_schema: { name: "s", schema: { type: "object", properties: {} }, strict: true },
};

/** Members that clients send by default, besides model and messages. */
const CLIENTS: Readonly<Record<string, object>> = {
  "openai SDK": {},
  "openai SDK, stream": { stream: true },
  LangChain: { stream: false, n: 1, temperature: 0.7, max_tokens: 256 },
  "LangChain, new limit": { temperature: 0, max_completion_tokens: 100_000, stream: true },
  LlamaIndex: { temperature: 0.1, max_tokens: null, stream: false },
  "AI SDK": { temperature: 0, top_p: 0.9, max_tokens: 1000, stream: true },
  "openai-agents": { store: true, metadata: { app: "a" }, parallel_tool_calls: true },
  "pydantic-ai": { stream: false, max_completion_tokens: 512, parallel_tool_calls: false },
  Codex: { store: false, prompt_cache_key: "k", verbosity: "low", reasoning_effort: "medium" },
  "Open WebUI": { stream: true, temperature: 0.8, top_p: 0.9, max_tokens: 128, seed: 1 },
  "LiteLLM SDK": { temperature: 0.2, user: "u", presence_penalty: 0.5 },
  "a developer message": {
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "hello" },
    ],
  },
  "reasoning in the history": {
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: "b", reasoning_content: "hm" },
      { role: "user", content: "c" },
    ],
  },
};

describe.each(["gpt5", "mistral", "claude", "small"] as const)("%s alone", (model) => {
  it("answers the default request of every client", async () => {
    const { gateway } = await startPool([model]);
    for (const [client, members] of Object.entries(CLIENTS)) {
      const { status, text } = await gateway.post("/v1/chat/completions", chat("hello", members));
      expect([client, status, text]).toEqual([client, 200, text]);
      expect(text).toContain(`"model":"${model}"`);
    }
  });
});

it("a pool of all of them answers every client, with tools and a schema too", async () => {
  const { gateway } = await startPool(["small", "gemini", "gpt5", "mistral", "claude"]);
  const more = {
    ...CLIENTS,
    agent: { tools: [TOOL] },
    schema: { tools: [TOOL], response_format: SCHEMA },
  };
  for (const [client, members] of Object.entries(more)) {
    for (const content of ["hello", "many words ".repeat(600)]) {
      const { status, text } = await gateway.post("/v1/chat/completions", chat(content, members));
      expect([client, status, text]).toEqual([client, 200, text]);
    }
  }
});

describe("a refusal that names a parameter", () => {
  const request = chat("x", { temperature: 0.2, max_tokens: 5 });

  it("is remembered, and the request is sent again without the parameter", async () => {
    const { host, gateway } = await startPool(["gpt5"]);
    const { json, headers } = await gateway.post("/v1/chat/completions", request);
    const adapted = [
      { param: "max_tokens", change: "renamed", to: "max_completion_tokens" },
      { param: "temperature", change: "dropped" },
    ];
    expect(json.joust).toMatchObject({ model: "gpt5", adapted });
    expect(headers.get("x-joust-adapted")).toBe(
      'max_tokens;renamed="max_completion_tokens", temperature;dropped',
    );
    expect(host.received("gpt5")).toHaveLength(3);
    expect(host.received("gpt5").at(-1)).toMatchObject({ max_completion_tokens: 5 });
    // The next request is adapted in advance.
    const next = await gateway.post("/v1/chat/completions", request);
    expect(next.json.joust.adapted).toEqual(adapted);
    expect(host.received("gpt5")).toHaveLength(4);
  });

  it("works for a request that names the model, and for a stream", async () => {
    const { gateway } = await startPool(["gpt5"]);
    const named = await gateway.post("/v1/chat/completions", { ...request, model: "gpt5" });
    expect(named.status).toBe(200);
    expect(named.headers.get("x-joust-adapted")).toContain("temperature;dropped");
    expect(named.json.joust).toBeUndefined();
    const { text } = await gateway.post("/v1/chat/completions", { ...request, stream: true });
    expect(text).toContain('"adapted":[{"param":"max_tokens"');
  });

  it("lets a request without adaptation pass unchanged", async () => {
    const { gateway } = await startPool(["gpt5"]);
    const { json, headers } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(json.joust.adapted).toBeUndefined();
    expect(headers.get("x-joust-adapted")).toBeNull();
  });

  it("does not reveal the models of a duel", async () => {
    const { gateway } = await startPool(["gpt5", "mistral"]);
    const { json, headers } = await gateway.post("/v1/chat/completions", {
      ...request,
      joust: { duel: true },
    });
    expect(json.choices).toHaveLength(2);
    expect(json.joust.adapted).toBeUndefined();
    expect(headers.get("x-joust-adapted")).toBeNull();
  });
});

describe("strict", () => {
  const request = chat("x", { max_tokens: 5 });

  it.each([
    ["a member of the request", { joust: { strict: true } }, {}, ""],
    ["a header", {}, { "x-joust-strict": "true" }, ""],
    ["a setting of the router", {}, {}, ", strict: true"],
  ])("as %s: the request goes unchanged to another model", async (_, more, headers, router) => {
    const { host, gateway } = await startPool(["gpt5", "easy"], router);
    const body = { ...request, ...more };
    const { json } = await gateway.post("/v1/chat/completions", body, headers);
    expect(json.joust).toMatchObject({
      model: "easy",
      fallbacks: [{ model: "gpt5", reason: "unsupported_parameter 400" }],
    });
    expect(json.joust.adapted).toBeUndefined();
    expect(host.received("gpt5")).toHaveLength(1);
    expect(host.received("easy")[0]).toMatchObject({ max_tokens: 5 });
  });

  it("a named model's refusal reaches the client", async () => {
    const { gateway } = await startPool(["gpt5"]);
    const named = { ...request, model: "gpt5", joust: { strict: true } };
    const { status, json } = await gateway.post("/v1/chat/completions", named);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ param: "max_tokens", code: "unsupported_parameter" });
  });

  it("the router's setting can be turned off by a request", async () => {
    const { gateway } = await startPool(["gpt5"], ", strict: true");
    const client = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await expect(
      client.chat.completions.create({
        model: "auto",
        max_tokens: 5,
        messages: [{ role: "user", content: "x" }],
      }),
    ).rejects.toMatchObject({ status: 400 });
    const { status } = await gateway.post("/v1/chat/completions", {
      ...request,
      joust: { strict: false },
    });
    expect(status).toBe(200);
  });
});

it("parameters of the configuration are adapted in advance", async () => {
  const host = await startPicky();
  onTestFinished(() => host.close());
  const gateway = await startGateway(`
providers:
  house: {url: "${host.url("easy")}"}
models:
  m:
    provider: house
    parameters: {rename: {max_tokens: n_predict}, drop: [seed], max: {temperature: 1}}
`);
  const members = { max_tokens: 5, seed: 1, temperature: 2 };
  await gateway.post("/v1/chat/completions", chat("x", members));
  const [sent] = host.received("easy");
  expect(sent).toMatchObject({ n_predict: 5, temperature: 1 });
  expect(sent).not.toHaveProperty("seed");
  expect(sent).not.toHaveProperty("max_tokens");
});

it.each(["gpt5", "mistral", "claude", "small"] as const)(
  "%s answers the default requests of Responses and Messages clients",
  async (model) => {
    const { gateway } = await startPool([model]);
    const responses = { model: "auto", input: "hello", store: false, temperature: 0.2 };
    const limited = {
      ...responses,
      max_output_tokens: 20_000,
      prompt_cache_key: "k",
      stream: true,
    };
    for (const body of [responses, limited]) {
      const { status, text } = await gateway.post("/v1/responses", body);
      expect([status, text]).toEqual([200, text]);
      expect(text).toContain("Hello!");
    }
    const messages = {
      model: "auto",
      max_tokens: 32_000,
      temperature: 0.2,
      top_p: 0.9,
      metadata: { user_id: "u" },
      messages: [{ role: "user", content: "hello" }],
    };
    for (const body of [messages, { ...messages, stream: true, system: "Be brief." }]) {
      const { status, text } = await gateway.post("/v1/messages", body);
      expect([status, text]).toEqual([200, text]);
      expect(text).toMatch(/Hello!|Hel.*lo!/s);
    }
  },
);
