import { describe, expect, it } from "vitest";
import {
  type DialectUpstream,
  MESSAGES,
  PATHS,
  startDialectUpstream,
} from "./dialect-upstream.fixture.ts";
import { startGateway, type TestGateway } from "./gateway.fixture.ts";

/** Ways of a client to spend more than the budget of its key, or to evade its list of models. */

const AUTH = { authorization: "Bearer 0123456789abcdef" };
const keysOf = (budget: number) =>
  `keys: {a: {key: "0123456789abcdef", budget: ${budget}, scopes: [admin, route]}}\n`;
const head = { id: "chatcmpl-1", object: "chat.completion", created: 5, model: "up" };
const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
const answerOf = (completion_tokens: number) => ({
  ...head,
  choices: [choice],
  usage: { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens },
});

/**
 * Sends requests at a time. The upstream answers with `body` when each of them has either reached it with the model
 * `model` or been answered. Returns how many were answered with each status.
 */
async function atATime(
  gateway: TestGateway,
  host: DialectUpstream,
  model: string,
  body: object,
  send: () => Promise<{ readonly status: number }>,
): Promise<Record<number, number>> {
  const all = Promise.withResolvers<void>();
  let left = REQUESTS;
  const settle = () => {
    if (--left === 0) all.resolve();
  };
  host.answer = async (request) => {
    if (request.body.model !== model) return { status: 500, body: { error: { message: "down" } } };
    settle();
    await all.promise;
    return { body };
  };
  const counts: Record<number, number> = {};
  await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      const { status } = await send();
      counts[status] = (counts[status] ?? 0) + 1;
      if (status !== 200) settle();
    }),
  );
  await gateway.log.flush();
  return counts;
}

const REQUESTS = 10;

describe("a client that disconnects before the answer begins", () => {
  const prompt = "word ".repeat(2000);

  /** Sends a request, disconnects when the upstream has got it, and waits until its decision or answer is logged. */
  async function abandon({ url, log }: TestGateway, host: DialectUpstream, body: object) {
    const before = host.received.length;
    const stop = new AbortController();
    const request = { method: "POST", headers: AUTH, body: JSON.stringify(body) };
    const sent = fetch(`${url}${PATHS.chat}`, { ...request, signal: stop.signal });
    await expect.poll(() => host.received.length).toBe(before + 1);
    stop.abort();
    await expect(sent).rejects.toThrow();
    await log.flush();
  }

  const spendOf = async ({ get }: TestGateway, model: string) => {
    const { text } = await get("/metrics", AUTH);
    return Number(
      new RegExp(`^joust_spend_usd_total\\{model="${model}"\\} (\\S+)$`, "m").exec(text)?.[1],
    );
  };

  it.each([
    ["chat-model", false],
    ["chat-model", true],
    ["auto", false],
    ["auto", true],
  ])(
    "pays for its prompt, and up to what was set aside (%s, stream: %s)",
    async (model, stream) => {
      const host = await startDialectUpstream();
      const gateway = await startGateway(
        `${host.yaml}routers: {auto: {models: [chat-model]}}\n${keysOf(0.02)}`,
      );
      host.answer = () => new Promise(() => {});
      const messages = [{ role: "user", content: prompt }];
      const body = { model, messages, stream, max_tokens: 1000 };
      // 10,000 bytes are about 2,500 tokens at 1 dollar per million, and 1,000 tokens of an answer cost 0.002 dollars.
      for (let i = 0; i < 2; i++) {
        await abandon(gateway, host, body);
        await expect.poll(() => spendOf(gateway, "chat-model")).toBeGreaterThan((i + 1) * 0.0025);
      }
      expect(await spendOf(gateway, "chat-model")).toBeLessThan(0.0053);
      // 0.012 dollars were set aside for the first request, and the rest of the budget for the second.
      const refused = await gateway.post(PATHS.chat, { model, messages }, AUTH);
      expect([refused.status, host.received.length]).toEqual([429, 2]);
      expect(refused.json.error.code).toBe("insufficient_quota");
    },
  );
});

describe("requests at a time", () => {
  it("do not fall back to a dearer model that the budget has no room for", async () => {
    const host = await startDialectUpstream();
    const dear =
      "  dear: {provider: chat-provider, model: up-dear, retries: 0, price: {input: 0, output: 100000}}\n";
    const router =
      "routers: {auto: {models: [chat-model, dear], explore: 0, cost_quality_tradeoff: 9.9}}\n";
    const gateway = await startGateway(`${host.yaml}${dear}${router}${keysOf(1.2)}`);
    const request = { model: "auto", messages: MESSAGES, max_tokens: 5 };
    const counts = await atATime(gateway, host, "up-dear", answerOf(5), () =>
      gateway.post(PATHS.chat, request, AUTH),
    );
    // Two answers of 0.5 dollars each. The others get the error of the cheap model.
    expect([1, 2]).toContain(counts[200]);
  });

  it("without a limit set aside the longest answer that the model gives", async () => {
    const host = await startDialectUpstream();
    const wordy =
      "  wordy: {provider: chat-provider, model: up-wordy, max_answer: 100000, price: {input: 0, output: 10}}\n";
    const gateway = await startGateway(`${host.yaml}${wordy}${keysOf(1)}`);
    const request = { model: "wordy", messages: MESSAGES };
    const counts = await atATime(gateway, host, "up-wordy", answerOf(100_000), () =>
      gateway.post(PATHS.chat, request, AUTH),
    );
    // An answer costs the whole budget of 1 dollar.
    expect(counts).toEqual({ 200: 1, 429: REQUESTS - 1 });
  });

  it("set aside an answer for each prompt of a list", async () => {
    const host = await startDialectUpstream();
    const gateway = await startGateway(`${host.yaml}${keysOf(0.01)}`);
    // Each prompt costs 0.0002 dollars at most, 50 of them the whole budget.
    const request = { model: "chat-model", prompt: Array(50).fill("a"), max_tokens: 100 };
    const body = {
      ...answerOf(5000),
      object: "text_completion",
      choices: [{ index: 0, text: "x" }],
    };
    const counts = await atATime(gateway, host, "up-chat", body, () =>
      gateway.post("/v1/completions", request, AUTH),
    );
    expect(counts).toEqual({ 200: 1, 429: REQUESTS - 1 });
  });
});

describe.each(["chat-model", "auto"])("requests at a time for %s", (model) => {
  const address = { url: "https://example.com/a.png" };
  const image = { type: "image_url", image_url: address };
  it.each([
    // At one dollar per million tokens, 0.01 dollars per image and 1 dollar per document.
    [0.015, [image]],
    [0.025, [image, image]],
    [1.5, [{ type: "file", file: { file_id: "file-1" } }]],
  ])("set aside attachments (budget %f, %j)", async (budget, content) => {
    const host = await startDialectUpstream();
    const router = "routers: {auto: {models: [chat-model]}}\n";
    const gateway = await startGateway(`${host.yaml}${router}${keysOf(budget)}`);
    const request = { model, messages: [{ role: "user", content }], max_tokens: 5 };
    const counts = await atATime(gateway, host, "up-chat", answerOf(5), () =>
      gateway.post(PATHS.chat, request, AUTH),
    );
    expect(counts).toEqual({ 200: 1, 429: REQUESTS - 1 });
  });
});

describe.each(["messages-model", "auto"])("requests at a time for %s", (model) => {
  it("set aside the thinking that the translation adds to the limit", async () => {
    const host = await startDialectUpstream();
    const router = "routers: {auto: {models: [messages-model]}}\n";
    // 8,000 tokens at 2 dollars per million are 0.016 dollars.
    const gateway = await startGateway(`${host.yaml}${router}${keysOf(0.02)}`);
    const thinking = { type: "enabled", budget_tokens: 8000 };
    const request = { model, messages: MESSAGES, max_tokens: 10, thinking };
    const content = [{ type: "text", text: "Hi" }];
    const head = { id: "msg_1", type: "message", role: "assistant", model: "up", content };
    const usage = { input_tokens: 10, output_tokens: 8010 };
    const body = { ...head, stop_reason: "end_turn", usage };
    const counts = await atATime(gateway, host, "up-messages", body, () =>
      gateway.post(PATHS.chat, request, AUTH),
    );
    expect(counts).toEqual({ 200: 1, 429: REQUESTS - 1 });
    expect(host.received[0]!.body.max_tokens).toBe(8010);
  });
});

describe("members that evade the limits of a key at the provider", () => {
  const passed = [
    { models: ["dear"] },
    { fallbacks: ["dear"] },
    { api_base: "https://example.com" },
  ];
  const tool = { tools: [{ type: "image_generation", model: "dear" }] };
  const dearer = [{ service_tier: "priority" }, { speed: "fast" }];

  it.each([
    ["models: [chat-model]", [...passed, tool], dearer],
    ["budget: 1", dearer, [...passed, tool]],
  ])("are refused for a key with %s", async (limit, refused, allowed) => {
    const host = await startDialectUpstream();
    const keys = `keys: {a: {key: "0123456789abcdef", ${limit}}}\n`;
    const router = "routers: {auto: {models: [chat-model]}}\n";
    const { post } = await startGateway(`${host.yaml}${router}${keys}`);
    host.answer = () => ({ body: answerOf(1) });
    for (const model of ["chat-model", "auto"]) {
      for (const members of refused) {
        const body = { model, messages: MESSAGES, ...members };
        const { status, json } = await post(PATHS.chat, body, AUTH);
        const [param] = Object.keys(members);
        expect([status, json.error]).toMatchObject([403, { code: "member_not_allowed", param }]);
      }
    }
    const body = { model: "chat-model", prompt: "a", ...refused[0] };
    expect((await post("/v1/completions", body, AUTH)).status).toBe(403);
    expect(host.received).toHaveLength(0);
    for (const members of [...allowed, { service_tier: "default", models: null }]) {
      const body = { model: "chat-model", messages: MESSAGES, ...members };
      expect((await post(PATHS.chat, body, AUTH)).status).toBe(200);
      expect(host.received.at(-1)!.body).toMatchObject(members);
    }
  });
});
