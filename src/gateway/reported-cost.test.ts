import { describe, expect, it } from "vitest";
import {
  type DialectUpstream,
  PATHS,
  REQUESTS,
  startDialectUpstream,
} from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, startGateway } from "./gateway.fixture.ts";
import { DIALECTS, type DialectName } from "./wire/dialect-names.ts";

/** Usage of 100 and 7 tokens, for which the upstream reports a cost (OpenRouter). */
const TOKENS = { input_tokens: 100, output_tokens: 7 };
const USAGE: Record<DialectName, object> = {
  chat: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
  responses: { ...TOKENS, total_tokens: 107 },
  messages: TOKENS,
};

/** An answer of the upstream with a usage, complete or as the events of a stream. */
const ANSWERS: Record<DialectName, (usage: object, stream: boolean) => object> = {
  chat: (usage, stream) => {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 5, model: "up" };
    const content = { role: "assistant", content: "Hello" };
    if (!stream)
      return { ...head, choices: [{ index: 0, message: content, finish_reason: "stop" }], usage };
    return [
      { ...head, choices: [{ index: 0, delta: content, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...head, choices: [], usage },
    ];
  },
  responses: (usage, stream) => {
    const content = [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }];
    const item = {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      content,
    };
    const response = { id: "resp_1", object: "response", created_at: 5, model: "up" };
    const whole = { ...response, status: "completed", error: null, output: [item], usage };
    if (!stream) return whole;
    return [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: whole },
    ];
  },
  messages: (usage, stream) => {
    const message = { id: "msg_1", type: "message", role: "assistant", model: "up" };
    const stop = { stop_reason: "end_turn", stop_sequence: null };
    if (!stream) return { ...message, content: [{ type: "text", text: "Hello" }], ...stop, usage };
    const { output_tokens } = TOKENS;
    const first = { ...message, content: [], stop_reason: null, usage: TOKENS };
    return [
      { type: "message_start", message: first },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage: { ...usage, input_tokens: 0, output_tokens } },
      { type: "message_stop" },
    ];
  },
};

const start = async (host: DialectUpstream, upstream: DialectName, price = "output: 2") =>
  startGateway(
    `${host.yaml.replaceAll("output: 2", price)}routers: {auto: {models: [${upstream}-model]}}\n`,
  );

/** A usage whose counts of the answer are near the largest exact number. */
function forged(usage: object): object {
  const counts = ["completion_tokens", "output_tokens", "total_tokens"];
  return { ...usage, ...Object.fromEntries(counts.map((name) => [name, 2 ** 53 - 1])) };
}

/** More tokens were written to a cache than there are, in the names of all dialects. */
const FORGED_CACHE = {
  ...{ prompt_tokens: 1, input_tokens: 1, completion_tokens: 1, output_tokens: 1 },
  input_tokens_details: { cache_write_tokens: 90_000_000 },
  prompt_tokens_details: { cache_write_tokens: 90_000_000 },
  cache_creation: { ephemeral_1h_input_tokens: 90_000_000 },
};

/** The cost that the gateway names in an answer or in the last event that has one. */
function costIn(text: string, stream: boolean): number | undefined {
  if (!stream) return JSON.parse(text).joust.cost;
  const costs = eventsOf(text).map(({ joust, response }) => (joust ?? response?.joust)?.cost);
  return costs.findLast((cost) => cost !== undefined);
}

const PAIRS = DIALECTS.flatMap((client) => DIALECTS.map((upstream) => [client, upstream] as const));

describe.each(PAIRS)("a client of %s with an upstream that speaks %s", (client, upstream) => {
  it.each([false, true])("gets the cost that the upstream reports (stream: %s)", async (stream) => {
    const host = await startDialectUpstream();
    const caches = "output: 2, cache_write: 0.5, cache_write_1h: 2";
    const { post, store, log } = await start(host, upstream, caches);
    const options = stream && client === "chat" ? { stream_options: { include_usage: true } } : {};
    const body = { model: "auto", stream, ...options, ...REQUESTS[client] };
    const spent = async (usage: object) => {
      host.answer = () => ({ body: ANSWERS[upstream](usage, stream) });
      const { text, headers } = await post(PATHS[client], body);
      await log.flush();
      const { answers } = (await store.decision(headers.get("x-joust-decision-id")!))!;
      return [costIn(text, stream), answers[0]!.cost];
    };
    expect(await spent({ ...USAGE[upstream], cost: 0.75 })).toEqual([0.75, 0.75]);
    // Without a reported cost, or with one that cannot be true: 100 tokens at 1 dollar and 7 at 2 dollars per million.
    const listed = expect.closeTo(114e-6, 12);
    expect(await spent(USAGE[upstream])).toEqual([listed, listed]);
    expect(await spent({ ...USAGE[upstream], cost: 1e200 })).toEqual([listed, listed]);
    // Counts that cannot be true would spoil all sums and use up a budget.
    for (const [, cost] of [await spent(forged(USAGE[upstream])), await spent(FORGED_CACHE)]) {
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(cost).toBeLessThan(0.01);
    }
  });
});

it("names the price of cache writes that live for an hour, also in another dialect", async () => {
  const host = await startDialectUpstream();
  const price = "price: {input: 1, output: 2, cache_write: 3, cache_write_1h: 5}";
  const yaml = host.yaml.replaceAll("price: {input: 1, output: 2}", price);
  const gateway = await startGateway(`${yaml}routers: {auto: {models: [messages-model]}}\n`);
  const usage = {
    ...TOKENS,
    cache_creation_input_tokens: 1000,
    cache_creation: { ephemeral_1h_input_tokens: 1000 },
  };
  host.answer = () => {
    const [first, ...others] = ANSWERS.messages({}, true) as { message: object }[];
    return { body: [{ ...first, message: { ...first!.message, usage } }, ...others] };
  };
  for (const client of ["chat", "responses"] as const) {
    const options = { stream: true, stream_options: { include_usage: true } };
    const body = { model: "auto", ...REQUESTS[client], ...options };
    const { text } = await gateway.post(PATHS[client], body);
    expect(costIn(text, true)).toBeCloseTo((100 + 5 * 1000 + 2 * 7) / 1e6, 12);
  }
});

it.each(["responses", "messages"] as const)(
  "hides a reported cost in a duel of %s",
  async (client) => {
    const host = await startDialectUpstream();
    const duels = "{models: [chat-model, messages-model], duels: {mode: true, share: 1, spend: 1}}";
    const gateway = await startGateway(`${host.yaml}routers: {auto: ${duels}}\n`);
    for (const stream of [false, true]) {
      host.answer = ({ body }, dialect) => ({
        body: ANSWERS[dialect]({ ...USAGE[dialect], cost: 0.75 }, body.stream === true),
      });
      const body = { model: "auto", stream, ...REQUESTS[client] };
      const later = await gateway.post(PATHS[client], body);
      expect(later.text).toContain('"later"');
      const both = await gateway.post(PATHS[client], { ...body, joust: { duel: true } });
      for (const { text } of [later, both]) expect(text).not.toContain("0.75");
    }
  },
);

it("costs price times tokens in the sandbox, in all dialects", async () => {
  const gateway = await startGateway(SANDBOX);
  const { data } = (await gateway.get("/v1/models")).json;
  for (const client of DIALECTS) {
    const costs: number[] = [];
    for (const text of ["Hi", "Hi ".repeat(2000)]) {
      const messages = [{ role: "user", content: text }];
      const own = client === "responses" ? { input: text } : { messages, max_tokens: 100 };
      const joust = { allowed_models: ["summit-pro"] };
      const { json } = await gateway.post(PATHS[client], { model: "auto", ...own, joust });
      const { price } = data.find(({ id }: { id: string }) => id === json.joust.model);
      const { prompt_tokens, completion_tokens, input_tokens, output_tokens } = json.usage;
      const input = (prompt_tokens ?? input_tokens) * price.input;
      const output = (completion_tokens ?? output_tokens) * price.output;
      expect(json.joust.cost).toBeCloseTo((input + output) / 1e6, 12);
      costs.push(json.joust.cost);
    }
    expect(costs[1]).toBeGreaterThan(5 * costs[0]!);
  }
});
