import { describe, expect, it } from "vitest";
import {
  type DialectUpstream,
  MESSAGES,
  PATHS,
  REQUESTS,
  startDialectUpstream,
} from "./dialect-upstream.fixture.ts";
import { eventsOf, startGateway, type TestGateway } from "./gateway.fixture.ts";
import { MESSAGE } from "./later-duels.fixture.ts";
import { DIALECTS, type DialectName } from "./wire/dialect-names.ts";

/** Calls that fail after the upstream has charged for them are part of the spending. */

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 5, model: "up" };
const usage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 };
/** A response without an answer, although the upstream counts tokens. */
const EMPTY = { ...head, choices: [], usage: { ...usage, prompt_tokens: 1000, cost: 0.5 } };
const WHOLE = {
  ...head,
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage,
};
const STREAM = [
  { ...head, choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }] },
  { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { ...head, choices: [], usage },
];
/** A stream whose only event is a usage, and that then breaks off. */
const BROKEN = [{ ...head, choices: [], usage: { ...usage, prompt_tokens: 1000, cost: 0.5 } }];

/** 100 tokens at 1 dollar and 7 at 2 dollars per million. */
const LISTED = 114e-6;

async function start(host: DialectUpstream, more = ""): Promise<TestGateway> {
  const price = "price: {input: 1, output: 2}";
  const other = `  other-model: {provider: chat-provider, model: other, retries: 0, ${price}}\n`;
  const router = "routers: {auto: {models: [chat-model, other-model], explore: 0}}\n";
  return startGateway(`${host.yaml}${other}${router}${more}`);
}

const spendOf = async ({ get }: TestGateway) => (await get("/v1/stats?hours=1")).json.spend;

describe.each(DIALECTS)("%s", (dialect) => {
  it.each([false, true])(
    "counts a charged call that another model replaced (stream: %s)",
    async (stream) => {
      const host = await startDialectUpstream();
      const gateway = await start(host);
      host.answer = ({ body }) =>
        body.model === "up-chat"
          ? { body: stream ? BROKEN : EMPTY, breaks: stream }
          : { body: stream ? STREAM : WHOLE };
      const body = { model: "auto", ...REQUESTS[dialect], stream };
      // Either model may be the first one.
      let answer = await gateway.post(PATHS[dialect], body);
      for (let i = 0; !answer.text.includes("fallbacks"); i++) {
        expect(i).toBeLessThan(40);
        answer = await gateway.post(PATHS[dialect], body);
      }
      const events = stream ? eventsOf(answer.text) : [answer.json];
      const notes = events.map((event) => (event.response ?? event.message ?? event).joust);
      const [fallbacks] = notes.flatMap((note) => (note?.fallbacks ? [note.fallbacks] : []));
      expect(fallbacks).toMatchObject([{ model: "chat-model", cost: 0.5 }]);
      // The usage and the cost are those of the model that answered. A chat stream has them on request.
      const last = events.findLast((event) => event.usage ?? event.response?.usage);
      if (dialect !== "chat" || !stream) {
        const counted = last.usage ?? last.response.usage;
        expect(counted.prompt_tokens ?? counted.input_tokens).toBe(100);
        expect((last.joust ?? last.response.joust).cost).toBeCloseTo(LISTED, 12);
      }
      await gateway.log.flush();
      const { by_model, total } = await spendOf(gateway);
      expect(by_model["chat-model"]).toBeCloseTo(0.5, 9);
      expect(total).toBeCloseTo(0.5 + by_model["other-model"], 9);
    },
  );
});

it.each([false, true])(
  "counts each call of a duel once if both models fail (stream: %s)",
  async (stream) => {
    const host = await startDialectUpstream();
    const gateway = await start(host);
    host.answer = () => ({ body: stream ? BROKEN : EMPTY, breaks: stream });
    const request = { model: "auto", messages: MESSAGES, stream, joust: { duel: true } };
    const { status } = await gateway.post(PATHS.chat, request);
    expect([status, host.received.length]).toEqual([502, 2]);
    await gateway.log.flush();
    const { models, spend } = (await gateway.get("/v1/stats?hours=1")).json;
    expect(models).toMatchObject(
      ["chat-model", "other-model"].map((model) => ({ model, calls: 1, failures: 1 })),
    );
    expect(spend.by_model).toEqual({ "chat-model": 0.5, "other-model": 0.5 });
    expect(spend.total).toBe(1);
  },
);

it.each([false, true])(
  "shows an estimated usage for the answers of a duel without one (stream: %s)",
  async (stream) => {
    const host = await startDialectUpstream();
    const gateway = await start(host);
    const uncounted = STREAM.slice(0, 2);
    const whole = { ...WHOLE, usage: undefined };
    host.answer = ({ body }) => ({
      body: body.model === "up-chat" ? (stream ? STREAM : WHOLE) : stream ? uncounted : whole,
    });
    const options = { stream, stream_options: stream ? { include_usage: true } : undefined };
    const request = { model: "auto", messages: MESSAGES, ...options, joust: { duel: true } };
    const { text } = await gateway.post(PATHS.chat, request);
    const shown = stream ? eventsOf(text).at(-1) : JSON.parse(text);
    // The answer with usage has 100 and 7 tokens.
    expect(shown.usage.prompt_tokens).toBeGreaterThan(100);
    expect(shown.usage.completion_tokens).toBeGreaterThan(7);
  },
);

it("counts what an upstream reports for some attempts, and the price of the others", async () => {
  const host = await startDialectUpstream();
  const yaml = host.yaml.replace("model: up-chat, retries: 0", "model: up-chat, retries: 3");
  const gateway = await startGateway(`${yaml}routers: {auto: {models: [chat-model]}}\n`);
  const answers = [
    { ...EMPTY, usage: { ...usage, cost: 0.02 } },
    { ...EMPTY, usage },
    { ...EMPTY, usage: { ...usage, cost: 0.03 } },
    WHOLE,
  ];
  host.answer = () => ({ body: answers.shift()! });
  const { status, json } = await gateway.post(PATHS.chat, { model: "auto", messages: MESSAGES });
  expect([status, json.joust.cost]).toEqual([200, LISTED]);
  await gateway.log.flush();
  const spend = await spendOf(gateway);
  expect(spend.total).toBeCloseTo(0.05 + 2 * LISTED, 9);
});

it("counts charged calls if no model answers, if the same model is called again, and against a budget", async () => {
  const host = await startDialectUpstream();
  const charged = { ...EMPTY, usage: { ...usage, cost: 0.02 } };
  const keys = 'keys: {a: {key: "0123456789abcdef", budget: 0.05, scopes: [admin, route]}}\n';
  const yaml = host.yaml.replace("model: up-chat, retries: 0", "model: up-chat, retries: 1");
  const gateway = await startGateway(`${yaml}${keys}`);
  const authorization = "Bearer 0123456789abcdef";
  const ask = (model: string) =>
    gateway.post(PATHS.chat, { model, messages: MESSAGES }, { authorization });
  const spent = async () => {
    await gateway.log.flush();
    const { text } = await gateway.get("/metrics", { authorization });
    return Number(/^joust_spend_usd_total\{model="chat-model"\} (\S+)$/m.exec(text)?.[1]);
  };
  let calls = 0;
  host.answer = () => ({ body: calls++ === 0 ? charged : WHOLE });
  const repeated = await ask("chat-model");
  expect(repeated.status).toBe(200);
  expect(await spent()).toBeCloseTo(0.02 + LISTED, 9);
  host.answer = () => ({ body: charged });
  // Two attempts of 0.02 dollars, after which the budget is used up.
  expect((await ask("chat-model")).status).toBe(502);
  expect(await spent()).toBeCloseTo(0.06 + LISTED, 9);
  const refused = await ask("chat-model");
  expect([refused.status, refused.json.error.code]).toEqual([429, "insufficient_quota"]);
});

it.each([false, true])(
  "counts every call if both models of a duel and the models after them fail (stream: %s)",
  async (stream) => {
    const host = await startDialectUpstream();
    const names = ["chat-model", "other-model", "third-model", "fourth-model"];
    const model = "{provider: chat-provider, model: up, retries: 0, price: {input: 1, output: 2}}";
    const more = names.slice(1).map((name) => `  ${name}: ${model}\n`);
    const gateway = await startGateway(
      `${host.yaml}${more.join("")}routers: {auto: {models: [${names}], explore: 0}}
keys: {a: {key: "0123456789abcdef", budget: 1.9, scopes: [admin, route]}}\n`,
    );
    host.answer = () => ({ body: stream ? BROKEN : EMPTY, breaks: stream });
    const auth = { authorization: "Bearer 0123456789abcdef" };
    const request = { model: "auto", messages: MESSAGES, stream, joust: { duel: true } };
    const ask = () => gateway.post(PATHS.chat, request, auth);
    expect([(await ask()).status, host.received.length]).toEqual([502, 4]);
    await gateway.log.flush();
    const { models, spend } = (await gateway.get("/v1/stats?hours=1", auth)).json;
    expect(models).toMatchObject(names.map((name) => ({ model: name, calls: 1, failures: 1 })));
    expect(spend.total).toBe(2);
    expect((await ask()).json.error.code).toBe("insufficient_quota");
  },
);

describe("estimates the tokens of an answer without usage", () => {
  const TEXT = "word ".repeat(4000);
  const message = { role: "assistant", content: TEXT };
  const chunk = (content: string, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  const block = { type: "text", text: TEXT };
  const delta = (text: string) => ({
    ...{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  });
  /** A streamed message of one block. `usage` is that of the first event. */
  const streamed = (blocks: readonly object[], usage?: object) => [
    { type: "message_start", message: { ...MESSAGE, content: [], usage } },
    ...blocks,
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ];
  const begin = (content_block: object) => ({
    ...{ type: "content_block_start", index: 0, content_block },
  });
  const empty = begin({ type: "text", text: "" });
  const item = {
    ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: TEXT, annotations: [] }],
  };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const textDelta = (text: string) => ({
    ...{ type: "response.output_text.delta", ...place, delta: text },
  });
  const response = (output: readonly object[]) => ({
    ...{ id: "resp_1", object: "response", created_at: 5, model: "up", status: "completed" },
    output,
    usage: null,
  });
  const added = { type: "response.output_item.added", output_index: 0, item };
  const done = { type: "response.output_item.done", output_index: 0, item };
  const end = (output: readonly object[]) => ({
    ...{ type: "response.completed", response: response(output) },
  });
  const sentences = Array.from({ length: 200 }, () => "word ".repeat(20));
  const call = { type: "tool_use", id: "t", name: "f", input: {} };
  const json = JSON.stringify({ a: "x".repeat(19_992) });
  const partial = { type: "input_json_delta", partial_json: json };

  it.each<[string, DialectName, object | readonly object[]]>([
    ["whole", "chat", { ...WHOLE, usage: null, choices: [{ ...WHOLE.choices[0], message }] }],
    ["in one event", "chat", [chunk(TEXT, "stop")]],
    ["in sentences", "chat", [...sentences.map((text) => chunk(text)), chunk("", "stop")]],
    ["in one event", "messages", streamed([empty, delta(TEXT)])],
    ["in sentences", "messages", streamed([empty, ...sentences.map(delta)])],
    ["in the beginning of a block", "messages", streamed([begin(block)])],
    ["as a call", "messages", streamed([begin(call), { ...delta(""), delta: partial }])],
    ["usage of the beginning", "messages", streamed([empty, delta(TEXT)], { output_tokens: 1 })],
    ["whole", "responses", response([item])],
    ["in one event", "responses", [added, textDelta(TEXT), done, end([item])]],
    ["in sentences", "responses", [added, ...sentences.map(textDelta), done, end([item])]],
    ["as an item", "responses", [done, end([])]],
    ["in the last event", "responses", [end([item])]],
  ])("%s (%s)", async (_, dialect, body) => {
    const host = await startDialectUpstream();
    const gateway = await start(host);
    host.answer = () => ({ body });
    const stream = Array.isArray(body);
    const model = `${dialect}-model`;
    const request = { model, ...REQUESTS[dialect], stream };
    expect((await gateway.post(PATHS[dialect], request)).status).toBe(200);
    await gateway.log.flush();
    const { text } = await gateway.get("/metrics");
    const tokens = /^joust_tokens_total\{model="[a-z]+-model",direction="output"\} (\d+)$/m.exec(
      text,
    );
    // A short event counts as one token.
    expect(Math.abs(Number(tokens?.[1]) - 5000)).toBeLessThan(5);
  });
});

describe("against a budget", () => {
  const keys = (budget: number) =>
    `keys: {a: {key: "0123456789abcdef", budget: ${budget}, scopes: [admin, route]}}\n`;
  const auth = { authorization: "Bearer 0123456789abcdef" };
  const price = ", price: {input: 1, output: 2}}";

  it("counts a second answer that fails after it was charged", async () => {
    const host = await startDialectUpstream();
    const other = `  other-model: {provider: chat-provider, model: other, retries: 0${price}\n`;
    const duels = "duels: {mode: true, share: 1, spend: 1}";
    const router = `routers: {auto: {models: [chat-model, other-model], ${duels}}}\n`;
    const gateway = await startGateway(`${host.yaml}${other}${router}${keys(0.3)}`);
    host.answer = () => ({ body: host.received.length === 1 ? WHOLE : EMPTY });
    const ask = () => gateway.post(PATHS.chat, { model: "auto", messages: MESSAGES }, auth);
    const first = await ask();
    expect([first.status, first.json.joust.duel]).toEqual([200, "later"]);
    const second = await gateway.get(`/v1/decisions/${first.json.id}/second`, auth);
    expect([second.status, host.received.length]).toEqual([404, 2]);
    expect((await ask()).json.error.code).toBe("insufficient_quota");
  });

  it("counts what a provider reports for a model without a price", async () => {
    const host = await startDialectUpstream();
    const unpriced = host.yaml.replaceAll(price, "}");
    const server = "server: {unpriced: estimate}\n";
    const gateway = await startGateway(`${unpriced}${server}${keys(2)}`);
    host.answer = () => ({ body: { ...WHOLE, usage: { ...usage, cost: 3 } } });
    const ask = () => gateway.post(PATHS.chat, { model: "chat-model", messages: MESSAGES }, auth);
    expect((await ask()).status).toBe(200);
    expect((await ask()).json.error.code).toBe("insufficient_quota");
  });

  it("counts a charged call before the answer of a model without a price", async () => {
    const host = await startDialectUpstream();
    const unpriced = "  free: {provider: messages-provider, model: free, retries: 0}\n";
    const router = "routers: {auto: {models: [chat-model, free], explore: 0}}\n";
    const yaml = `${host.yaml}${unpriced}${router}server: {unpriced: estimate}\n${keys(100)}`;
    const gateway = await startGateway(yaml);
    const charged = { ...EMPTY, usage: { ...usage, cost: 200 } };
    host.answer = (_, dialect) => ({ body: dialect === "chat" ? charged : MESSAGE });
    const ask = () => gateway.post(PATHS.chat, { model: "auto", messages: MESSAGES }, auth);
    // Either model may be the first one.
    for (let i = 0; !(await ask()).json.joust.fallbacks; i++) expect(i).toBeLessThan(40);
    expect((await ask()).json.error.code).toBe("insufficient_quota");
  });
});
