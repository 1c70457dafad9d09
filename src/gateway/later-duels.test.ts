import { beforeAll, describe, expect, it } from "vitest";
import { serverEvents } from "../client/server-events.ts";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import {
  eventsOf,
  newFolder,
  SANDBOX,
  sharedGateway,
  startGateway,
  type TestGateway,
} from "./gateway.fixture.ts";
import { CHUNKS, COMPLETION, MESSAGE, refusalOf, refusedMessageOf } from "./later-duels.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

/** Duels of routers and keys that want them, for clients that did not request one: the second answer is fetched. */

const DUELS = "routers: {auto: {duels: {mode: true, share: 1, spend: 1}, session_margin: 1}}";
const DOORS: readonly [DialectName, string, (text: string) => object][] = [
  ["chat", "/v1/chat/completions", (content) => ({ messages: [{ role: "user", content }] })],
  ["responses", "/v1/responses", (input) => ({ input })],
  [
    "messages",
    "/v1/messages",
    (content) => ({ messages: [{ role: "user", content }], max_tokens: 500 }),
  ],
];
const sandbox = sharedGateway(() => `${SANDBOX}\n${DUELS}\nstore: {prompts: true}`);
let names: string[];
beforeAll(() => {
  names = [...sandbox().serving().models.keys()];
});
const namesIn = (text: string) => names.filter((name) => text.includes(name));

type Any = ReturnType<typeof JSON.parse>;

/** The text of a complete answer. */
function textOf(dialect: DialectName, answer: Any): string {
  if (dialect === "chat") return answer.choices[0].message.content;
  const blocks = dialect === "messages" ? answer.content : answer.output[0].content;
  return blocks.map(({ text }: Any) => text).join("");
}

describe.each(DOORS)("%s", (dialect, path, request) => {
  const ask = (text: string, more: object = {}) => ({ model: "auto", ...request(text), ...more });
  const secondOf = (gateway: TestGateway, id: string, headers = {}) =>
    gateway.get(`/v1/decisions/${id}/second`, headers);

  it("gives one answer at once and the second on request, without naming the models", async () => {
    const { post, get } = sandbox();
    const first = await post(path, ask("Why is the sky blue?"));
    expect(first.json.joust).toMatchObject({ duel: "later", vote_token: expect.any(String) });
    expect(first.json.model).toBe("auto");
    for (const hidden of ["model", "cost", "fallbacks", "second"]) {
      expect(first.json.joust).not.toHaveProperty(hidden);
    }
    for (const name of ["x-joust-model", "x-joust-cost", "x-joust-deployment"]) {
      expect(first.headers.get(name)).toBeNull();
    }
    if (dialect === "chat") expect(first.json.choices).toHaveLength(1);
    const { decision_id: id } = first.json.joust;
    const second = await secondOf(sandbox(), id);
    expect(second.status).toBe(200);
    expect(second.json.joust).toEqual({ decision_id: id, router: "auto", duel: "later", slot: 1 });
    expect(second.json.id).toBe(first.json.id);
    const texts = [first, second].map(({ json }) => textOf(dialect, json));
    for (const text of texts) expect(text).toContain("sandbox");
    expect(texts[0]).not.toBe(texts[1]);
    // It can be fetched again, also by the id of the answer.
    expect((await secondOf(sandbox(), first.json.id)).text).toBe(second.text);
    const before = await get(`/v1/decisions/${id}`);
    expect(before.json.answers).toEqual([
      { slot: 0, status: "ok" },
      { slot: 1, status: "ok" },
    ]);
    for (const { text } of [first, second, before]) expect(namesIn(text)).toEqual([]);

    const vote = await post("/v1/feedback", { id: first.json.id, winner: 1 });
    expect(vote.json).toMatchObject({ id, status: "logged" });
    const after = await get(`/v1/decisions/${id}`);
    expect(after.json).toMatchObject({ models: vote.json.models, duel_reason: "later" });
    expect(after.json.votes).toMatchObject([{ outcome: "b" }]);
    expect(after.json.answers.every(({ cost }: Any) => cost > 0)).toBe(true);
  });

  it("streams one answer in the usual events", async () => {
    const { post, get } = sandbox();
    const more = { stream: true, ...(dialect === "chat" && USAGE) };
    const plain = await post(path, ask("Why do cats purr?", { ...more, joust: { duel: false } }));
    const { text, headers } = await post(path, ask("Why do cats purr?", more));
    expect(namesIn(text)).toEqual([]);
    const kinds = (events: Any[]) => new Set(events.map(({ type, object }) => type ?? object));
    const events = eventsOf(text);
    expect(kinds(events)).toEqual(kinds(eventsOf(plain.text)));
    expect(text).not.toContain('"second"');
    const indices = events.flatMap(({ choices = [] }) => choices.map(({ index }: Any) => index));
    expect(new Set(indices).size).toBeLessThanOrEqual(1);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(dialect === "chat");
    const id = headers.get("x-joust-decision-id")!;
    const { joust } = events[0].response ?? events[0].message ?? events[0];
    expect(joust).toMatchObject({ duel: "later", decision_id: id });
    const usage = events.at(-1).usage ?? events.at(-2).usage ?? events.at(-1).response.usage;
    expect(usage.completion_tokens ?? usage.output_tokens).toBeGreaterThan(5);
    // The second answer is complete, not a stream.
    const second = await secondOf(sandbox(), id, { "x-joust-vote-token": joust.vote_token });
    expect(textOf(dialect, second.json)).toContain("sandbox");
    const rating = await post("/v1/feedback", { id, rating: 1, vote_token: joust.vote_token });
    expect(rating.json.status).toBe("logged");
    const shown = await get(`/v1/decisions/${id}`);
    expect(shown.json.votes).toMatchObject([{ rating: 1, slot: 0 }]);
  });

  it("shows both answers at once only if the client requests it", async () => {
    const { post } = sandbox();
    const requested = await post(path, ask("Tea or coffee?", { joust: { duel: true } }));
    expect(requested.json.joust.duel).toBe(true);
    const gone = await secondOf(sandbox(), requested.json.joust.decision_id);
    expect([gone.status, gone.json.error.code]).toEqual([404, "second_together"]);
    const refused = await post(path, ask("Tea or coffee?", { joust: { duel: false } }));
    expect(refused.json.joust.model).toEqual(expect.any(String));
    const none = await secondOf(sandbox(), refused.json.joust.decision_id);
    expect([none.status, none.json.error.code]).toEqual([404, "second_single"]);
  });

  it.each([false, true])("counts tokens alike for every upstream (stream: %s)", async (stream) => {
    const host = await startDialectUpstream();
    // The upstreams count the same conversation differently, and one of them refuses in a member of its own.
    host.answer = ({ body }, dialect) => {
      const isStream = body.stream === true;
      return { body: dialect === "messages" ? refusedMessageOf(isStream) : refusalOf(isStream) };
    };
    const { post, get } = await startGateway(
      `${host.yaml}routers: {auto: {models: [chat-model, messages-model], duels: {mode: true, share: 1, spend: 1}}}\n`,
    );
    const more = { stream, ...(dialect === "chat" && stream && USAGE) };
    const first = await post(path, ask("Which tea?", more));
    const id = first.headers.get("x-joust-decision-id")!;
    const second = (await get(`/v1/decisions/${id}/second`)).json;
    const events = stream ? eventsOf(first.text) : [];
    const usages = stream
      ? events.flatMap((event) => event.usage ?? event.response?.usage ?? [])
      : [first.json.usage];
    expect(usages).toEqual([second.usage]);
    const { usage } = second;
    expect(usage.completion_tokens ?? usage.output_tokens).toBe(Math.ceil("I cannot.".length / 4));
    expect(usage.prompt_tokens ?? usage.input_tokens).toBeGreaterThan(5);
  });

  it("does not wait for the second answer, and says if it failed", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { gateway } = await startPair(async () => {
      await held;
      return { status: 500, body: { error: { message: "no" } } };
    });
    const first = await gateway.post(path, ask("Hi", { stream: true }));
    expect(first.text).toContain("fine");
    const id = first.headers.get("x-joust-decision-id")!;
    const fetching = secondOf(gateway, id);
    release();
    const failed = await fetching;
    expect([failed.status, failed.json.error.code]).toEqual([404, "second_failed"]);
    const vote = await gateway.post("/v1/feedback", { id, winner: 0 });
    expect([vote.status, vote.json.error.code]).toEqual([400, "vote_unanswered"]);
    expect((await gateway.post("/v1/feedback", { id, rating: 1 })).json.status).toBe("logged");
  });

  it("lets the second model answer alone if the first fails", async () => {
    const { gateway } = await startPair(
      () => new Promise(() => {}),
      ({ body }, { firstModel }) =>
        body.model === firstModel ? { status: 500, body: {} } : { body: CHUNKS },
    );
    const { text, headers } = await gateway.post(path, ask("Hi", { stream: true }));
    expect(text).toContain("fine");
    expect(text).not.toContain('"later"');
    expect(headers.get("x-joust-model")).toMatch(/^(chat|other)-model$/);
    const fetched = await secondOf(gateway, headers.get("x-joust-decision-id")!);
    expect(fetched.json.error.code).toBe("second_failed");
  });
});

type Host = Awaited<ReturnType<typeof startDialectUpstream>>;
type Answer = Parameters<Host["answer"]>[0] extends infer R
  ? (request: R, seen: { firstModel: string }) => ReturnType<Host["answer"]>
  : never;

/**
 * A gateway with two models whose duels are always later ones. Clients of the tests stream, so the
 * call of a second answer is the one that does not.
 */
async function startPair(
  second: Answer,
  first: Answer = () => ({ body: CHUNKS }),
  folder = newFolder(),
) {
  const host = await startDialectUpstream();
  const seen = { firstModel: "" };
  host.answer = (request) => {
    if (request.body.stream !== true) return second(request as never, seen);
    seen.firstModel ||= request.body.model;
    return first(request as never, seen);
  };
  const other =
    "  other-model: {provider: chat-provider, model: up-other, retries: 0, price: {input: 1, output: 2}}\n";
  const yaml = `${host.yaml}${other}routers: {auto: {models: [chat-model, other-model], duels: {mode: true, share: 1, spend: 1}}}\n`;
  return { host, yaml, folder, gateway: await startGateway(yaml, { folder }) };
}

const USAGE = { stream_options: { include_usage: true } };
const chat = (content: string, more: object = {}) => ({
  model: "auto",
  messages: [{ role: "user", content }],
  ...more,
});

describe("a duel whose second answer is fetched", () => {
  it("does not take place in a conversation that has its model, nor with tools", async () => {
    const { post } = sandbox();
    const session = { joust: { session_id: "later-1" } };
    const first = await post("/v1/chat/completions", chat("One?", session));
    expect(first.json.joust.duel).toBe("later");
    const next = await post("/v1/chat/completions", chat("Two?", session));
    const [shown] = (await sandbox().get(`/v1/decisions/${first.json.id}`)).json.answers;
    expect(shown.slot).toBe(0);
    expect(next.json.joust.duel).toBeUndefined();
    const vote = await post("/v1/feedback", { id: first.json.id, winner: "tie" });
    // The session stays with the model of the answer that the client has.
    expect(next.json.model).toBe(vote.json.models[0]);
    const tools = [{ type: "function", function: { name: "f" } }];
    const called = await post("/v1/chat/completions", chat("Three?", { tools }));
    expect(called.json.joust.duel).toBeUndefined();
    const decided = await post("/v1/route", chat("Four?"));
    expect(decided.json.models).toHaveLength(1);
  });

  it("does not name its models in the events of the gateway", async () => {
    const { post, url } = sandbox();
    const stop = new AbortController();
    const events = await fetch(`${url}/v1/events`, { signal: stop.signal });
    const { json } = await post("/v1/chat/completions", chat("Which one?"));
    const slots = new Set<number>();
    for await (const { name, data } of serverEvents(events)) {
      const event = JSON.parse(data);
      if (event.id !== json.joust.decision_id) continue;
      expect([name, namesIn(data), event.cost]).toEqual([name, [], undefined]);
      if (name === "answer") slots.add(event.slot);
      if (slots.size === 2) break;
    }
    stop.abort();
  });

  it("is stored like any response, so that a request can continue it", async () => {
    const { post, get } = sandbox();
    for (const stream of [false, true]) {
      const first = await post("/v1/responses", { model: "auto", input: "I am Ann.", stream });
      const response = stream ? eventsOf(first.text).at(-1).response : first.json;
      expect(response).toMatchObject({ store: true, joust: { duel: "later" } });
      expect((await get(`/v1/responses/${response.id}`)).json).toEqual(response);
      const more = { previous_response_id: response.id, input: "Who am I?", model: "auto" };
      expect((await post("/v1/responses", more)).status).toBe(200);
    }
  });

  it("counts both answers: cost, budget and the share of duels", async () => {
    const key = "k".repeat(16);
    const host = await startDialectUpstream();
    host.answer = () => ({ body: { ...COMPLETION, usage: MILLION } });
    const auth = { authorization: `Bearer ${key}` };
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {models: [chat-model, messages-model], duels: {mode: true, share: 1, spend: 1}}}
keys: {ann: {key: ${key}, budget: 5, scopes: [route, metrics]}}\n`,
    );
    const answer = host.answer;
    host.answer = (request, dialect) =>
      dialect === "messages" ? { body: MESSAGE } : answer(request, dialect);
    const ask = () => gateway.post("/v1/chat/completions", chat("Hi", { max_tokens: 9 }), auth);
    const first = await ask();
    expect(first.json.joust.duel).toBe("later");
    await gateway.get(`/v1/decisions/${first.json.id}/second`, auth);
    const spent = () => gateway.store.spent("config:ann", new Date().toISOString().slice(0, 7));
    await gateway.log.flush();
    expect(await spent()).toBe(2);
    const { json } = await gateway.get("/v1/stats", auth);
    expect(json.spend).toMatchObject({ total: 2, compared: 2 });
    expect(json.counts).toMatchObject({ requests: 1, duels: 1 });
  });

  it("becomes a single answer if the budget has no room for a second one, and is no duel for the limits", async () => {
    const key = "k".repeat(16);
    const auth = { authorization: `Bearer ${key}` };
    const host = await startDialectUpstream();
    const gateway = await startGateway(
      `${host.yaml.replaceAll("price: {input: 1, output: 2}", "price: {input: 0, output: 1000000}")}routers: {auto: {models: [chat-model, messages-model], duels: {mode: true, share: 0.2, spend: 1}}}
keys: {ann: {key: ${key}, budget: 150}}\n`,
    );
    const usage = { input_tokens: 10, output_tokens: 5 };
    host.answer = (_, dialect) => ({
      body: dialect === "messages" ? { ...MESSAGE, usage } : COMPLETION,
    });
    const ask = (max_tokens: number) =>
      gateway.post("/v1/chat/completions", chat("Hi", { max_tokens }), auth);
    // One token costs a dollar, so that two answers of 100 tokens could cost 200 dollars.
    const single = await ask(100);
    expect([single.status, single.json.joust.duel]).toEqual([200, undefined]);
    expect(single.json.joust.model).toEqual(expect.any(String));
    // One duel of two requests is within the share, and two are not.
    const duel = await ask(50);
    expect([duel.status, duel.json.joust.duel]).toEqual([200, "later"]);
    const capped = await ask(10);
    expect([capped.status, capped.json.joust.duel]).toEqual([200, "capped"]);
  });

  it("is limited to its share of the requests, to which duels on request do not count", async () => {
    const { post } = await startGateway(
      `${SANDBOX}\nrouters: {auto: {duels: {mode: true, share: 0.2, spend: 0.2}}}`,
    );
    const duelOf = async (text: string, joust: object = {}) => {
      const { json } = await post("/v1/chat/completions", chat(text, { joust }));
      return json.joust.duel;
    };
    for (let i = 0; i < 3; i++) expect(await duelOf(`Why ${i}?`, { duel: true })).toBe(true);
    expect(await duelOf("Why?")).toBe("later");
    expect(await duelOf("How?")).toBe("capped");
  });

  it("stops the second model if the client disconnects before the first answer is complete", async () => {
    const gateway = await startGateway(`sandbox: {speed: 0.01}\n${DUELS}`);
    const leaving = new AbortController();
    const response = fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify(chat("Why is the sky blue?")),
      signal: leaving.signal,
    });
    const decisions = async () => (await gateway.get("/v1/decisions")).json.data;
    while ((await decisions()).length === 0) await new Promise((done) => setImmediate(done));
    leaving.abort();
    await expect(response).rejects.toThrow();
    while ((await decisions())[0].answers.length < 2)
      await new Promise((done) => setImmediate(done));
    const [{ answers }] = await decisions();
    expect(answers).toEqual([
      { slot: 0, status: "cancelled" },
      { slot: 1, status: "cancelled" },
    ]);
  });

  it("is cancelled and logged if the gateway stops before the second answer is complete", async () => {
    const { gateway, yaml, folder, host } = await startPair(() => new Promise(() => {}));
    const { headers } = await gateway.post("/v1/chat/completions", chat("Hi", { stream: true }));
    const id = headers.get("x-joust-decision-id");
    while (host.received.length < 2) await new Promise((done) => setImmediate(done));
    await gateway.close();
    const again = await startGateway(yaml, { folder });
    const { json } = await again.get(`/v1/decisions/${id}`);
    expect(json.answers).toEqual([
      { slot: 0, status: "ok" },
      { slot: 1, status: "cancelled" },
    ]);
    const fetched = await again.get(`/v1/decisions/${id}/second`);
    expect([fetched.status, fetched.json.error.code]).toEqual([404, "second_failed"]);
  });

  it("is not on another node or after a restart, and the error says so", async () => {
    const folder = newFolder();
    const yaml = `${SANDBOX}\n${DUELS}`;
    const gateway = await startGateway(yaml, { folder });
    const { json } = await gateway.post("/v1/chat/completions", chat("Hi"));
    const path = `/v1/decisions/${json.joust.decision_id}/second`;
    expect((await gateway.get(path)).status).toBe(200);
    await gateway.close();
    const other = await startGateway(yaml, { folder });
    for (const headers of [{}, { "x-joust-vote-token": json.joust.vote_token }]) {
      const gone = await other.get(path, headers as Record<string, string>);
      expect([gone.status, gone.json.error.code]).toEqual([404, "second_not_here"]);
      expect(gone.json.error.hint).toContain("the node that gave the first answer");
    }
  });
});

const MILLION = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
