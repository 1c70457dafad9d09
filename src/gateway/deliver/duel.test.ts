import { beforeAll, describe, expect, it } from "vitest";
import { JoustClient } from "../../client/client.ts";
import {
  chat,
  eventsOf,
  SANDBOX,
  sharedGateway,
  startFaultyUpstream,
  startGateway,
} from "../gateway.fixture.ts";
import type { Fault } from "../providers/upstream/misbehaving.fixture.ts";

const sandbox = sharedGateway(() => SANDBOX);
let names: string[];
beforeAll(() => {
  names = [...sandbox().serving().models.keys()];
});

const duelled = (content: string, more: object = {}) =>
  chat(content, { joust: { duel: true }, ...more });

/** Whether the text names one of the models. */
const namesIn = (text: string) => names.filter((name) => text.includes(name));

describe("a duel", () => {
  it("has two answers and hides their models until the vote", async () => {
    const { post, get } = sandbox();
    const { json, text, headers } = await post("/v1/chat/completions", duelled("What is 2 + 2?"));
    expect(json.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    expect(json.model).toBe("auto");
    expect(json.joust).toMatchObject({ duel: true, decision_id: expect.any(String) });
    expect(headers.get("x-joust-model")).toBeNull();
    expect(headers.get("x-joust-cost")).toBeNull();
    expect(namesIn(text)).toEqual([]);
    expect(text).not.toContain("system_fingerprint");
    const { decision_id: id } = json.joust;
    const before = await get(`/v1/decisions/${id}`);
    expect(before.json).toMatchObject({ duel: true, answers: [{ slot: 0 }, { slot: 1 }] });
    expect(namesIn(before.text)).toEqual([]);
    expect(namesIn((await get("/v1/decisions?limit=1")).text)).toEqual([]);

    const vote = await post("/v1/feedback", { id: json.id, winner: 0 });
    expect(vote.json).toMatchObject({ id, status: "logged" });
    expect(new Set(vote.json.models).size).toBe(2);
    const after = await get(`/v1/decisions/${id}`);
    expect(after.json.models).toEqual(vote.json.models);
    expect(after.json.votes).toMatchObject([{ outcome: "a", source: "user" }]);
  });

  it("streams both answers, each with its own index", async () => {
    const { post } = sandbox();
    const more = { stream: true, stream_options: { include_usage: true } };
    const { text } = await post("/v1/chat/completions", duelled("Why do cats purr?", more));
    expect(namesIn(text)).toEqual([]);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const events = eventsOf(text);
    expect(events[0].joust).toMatchObject({ duel: true, vote_token: expect.any(String) });
    expect(new Set(events.map(({ id, model }) => `${id} ${model}`)).size).toBe(1);
    const said = ["", ""];
    const finished = new Set<number>();
    const order: number[] = [];
    for (const { choices } of events) {
      for (const { index, delta, finish_reason } of choices) {
        said[index] += delta.content ?? "";
        if (delta.content) order.push(index);
        if (finish_reason === "stop") finished.add(index);
      }
    }
    expect(finished).toEqual(new Set([0, 1]));
    for (const answer of said) expect(answer).toContain("sandbox");
    // The streams are interleaved.
    expect(order.indexOf(1)).toBeLessThan(order.lastIndexOf(0));
    expect(order.indexOf(0)).toBeLessThan(order.lastIndexOf(1));
    expect(events.at(-1).usage.completion_tokens).toBeGreaterThan(10);
  });

  it("takes place only on request, and not with tools or several answers", async () => {
    const { post, get } = sandbox();
    const tools = [{ type: "function", function: { name: "f" } }];
    const messages = [
      { role: "user", content: "hi" },
      { role: "tool", content: "1" },
    ];
    const joust = { duel: true, allowed_models: ["summit-pro"] };
    for (const [body, because] of [
      [chat("hi"), undefined],
      [duelled("hi", { n: 2 }), "no duel: the request has n: 2"],
      [duelled("hi", { tools }), "no duel: the request has tools"],
      [duelled("hi", { messages }), "no duel: the request ends with the result of a tool"],
      [duelled("hi", { joust }), "no duel: only summit-pro can serve the request"],
    ] as const) {
      const { json, headers } = await post("/v1/chat/completions", body);
      expect(headers.get("x-joust-model")).toBe(json.model);
      // The response and the decision say why the requested duel did not take place.
      const said = [json.joust.duel, json.joust.because];
      const none = [false, expect.stringContaining(because ?? "")];
      expect(said).toEqual(because === undefined ? [undefined, undefined] : none);
      const shown = await get(`/v1/decisions/${json.joust.decision_id}`);
      if (because !== undefined) expect(shown.json.reasons).toContain(json.joust.because);
    }
    const header = await post("/v1/chat/completions", chat("hi"), { "x-joust-duel": "true" });
    expect(header.json.choices).toHaveLength(2);
  });

  it("accepts a vote with a token on its own decision only", async () => {
    const { post } = sandbox();
    const ask = async () => (await post("/v1/chat/completions", duelled("Tea?"))).json.joust;
    const [one, two] = [await ask(), await ask()];
    const vote = (id: string, vote_token: string) =>
      post("/v1/feedback", { id, winner: "tie", vote_token });
    expect((await vote(two.decision_id, one.vote_token)).status).toBe(403);
    expect((await vote(one.decision_id, one.vote_token)).json.status).toBe("logged");
    expect((await vote(one.decision_id, one.vote_token)).json.status).toBe("repeated");
    const other = await post("/v1/feedback", { id: one.decision_id, winner: 1 });
    expect([other.status, other.json.error.code]).toEqual([409, "vote_changed"]);
  });
});

describe("votes", () => {
  it("move the posterior", async () => {
    const { post, store, log } = await startGateway(`${SANDBOX}\nrouters: {auto: {explore: 0}}`);
    const favourite = "summit-pro";
    const value = async (): Promise<number> => {
      const { json } = await post("/v1/route", chat("Question of many"));
      return json.scores.find(({ model }: { model: string }) => model === favourite).value;
    };
    const before = await value();
    for (let i = 0; i < 40; i++) {
      const joust = { duel: true, allowed_models: [favourite, names[i % 4]] };
      const { json } = await post("/v1/chat/completions", chat(`Question ${i} of many`, { joust }));
      // The log has the names, which are hidden from voters.
      await log.flush();
      const record = await store.decision(json.joust.decision_id);
      const winner = record!.decision.pair.indexOf(favourite);
      await post("/v1/feedback", { id: json.id, winner });
    }
    await expect.poll(value).toBeGreaterThan(before + 0.02);
  });
});

it("requires the slot in a rating of a duel", async () => {
  const { post, get } = sandbox();
  const { json } = await post("/v1/chat/completions", duelled("What is 2 + 2?"));
  const { decision_id: id } = json.joust;
  const either = await post("/v1/feedback", { id, rating: 1 });
  expect([either.status, either.json.error.param]).toEqual([400, "slot"]);
  expect((await get(`/v1/decisions/${id}`)).json.votes).toEqual([]);
  expect((await post("/v1/feedback", { id, rating: 1, slot: 1 })).json.status).toBe("logged");
});

describe("a duel with failing models", () => {
  const startPair = async (a: Fault, b: Fault, more = "") => {
    const host = await startFaultyUpstream();
    return startGateway(
      `providers: {A: {url: "${host.url(a)}"}, B: {url: "${host.url(b)}"}}
models: {a: {provider: A, retries: 0}, b: {provider: B, retries: 0}}
${more}`,
    );
  };
  const start = async (a: string, b: string, c?: string) => {
    const host = await startFaultyUpstream();
    const provider = (fault: string) => `{url: "${host.url(fault as "well")}"}`;
    const third = c ? `, C: ${provider(c)}` : "";
    return startGateway(
      `providers: {A: ${provider(a)}, B: ${provider(b)}${third}}
models: {a: {provider: A, retries: 0}, b: {provider: B, retries: 0}${c ? ", c: {provider: C}" : ""}}`,
    );
  };

  it.each([false, true])("has a single answer if one model fails (stream: %s)", async (stream) => {
    const { post } = await start("error500", "well");
    for (let i = 0; i < 4; i++) {
      const { status, text } = await post("/v1/chat/completions", duelled(`hi ${i}`, { stream }));
      expect(status).toBe(200);
      const choices = stream
        ? eventsOf(text).flatMap((event) => event.choices)
        : JSON.parse(text).choices;
      const said = choices.filter(
        (choice: { message?: object; delta?: { content?: string } }) =>
          choice.message ?? choice.delta?.content,
      );
      const places = new Set(said.map(({ index }: { index: number }) => index));
      expect(places).toEqual(new Set([0]));
      expect(text).toContain("the other model failed");
      const id = /"decision_id":"([^"]+)"/.exec(text)![1];
      expect((await post("/v1/feedback", { id, winner: 0 })).status).toBe(400);
      const rated = await post("/v1/feedback", { id, rating: -1 });
      expect(rated.json.status).toBe("logged");
    }
  });

  it("does not name the model that failed in the events of the gateway", async () => {
    const { post, url } = await start("error500", "well");
    const stop = new AbortController();
    const slots = new Set<number>();
    const ask = () => void post("/v1/chat/completions", duelled("hi"));
    for await (const { type, data } of new JoustClient({ baseUrl: url }).events({
      signal: stop.signal,
      onOpen: ask,
    })) {
      if (type !== "answer") continue;
      expect(Object.keys(data)).toEqual(["id", "at", "router", "slot", "status"]);
      slots.add(data.slot);
      if (slots.size === 2) break;
    }
    stop.abort();
  });

  it.each([false, true])("does not wait for a model that hangs (stream: %s)", async (stream) => {
    const { post } = await startPair(
      "hang",
      "well",
      "routers: {auto: {duels: {grace_seconds: 0.2}}}",
    );
    for (let i = 0; i < 3; i++) {
      const { status, text } = await post("/v1/chat/completions", duelled(`hi ${i}`, { stream }));
      expect(status).toBe(200);
      expect(text).toContain("the other model failed");
      expect(text).toMatch(/Hello!|lo!/);
    }
  });

  it("ends a stream in which both models fail with an error, not with [DONE]", async () => {
    const { post } = await startPair("resetMidStream", "earlyClose");
    const { text } = await post("/v1/chat/completions", duelled("hi", { stream: true }));
    expect(text).not.toContain("[DONE]");
    expect(eventsOf(text).at(-1).error.type).toBe("upstream_error");
  });

  it("falls back to a third model if both fail, and to an error if all do", async () => {
    const three = await start("error500", "reset", "well");
    const allowed = duelled("hi");
    const seen = new Set<number>();
    for (let i = 0; i < 6; i++) {
      const { json, status } = await three.post("/v1/chat/completions", allowed);
      expect(status).toBe(200);
      seen.add(json.choices.length);
      expect(json.joust.fallbacks?.length ?? 2).toBe(2);
    }
    expect(Math.max(...seen)).toBe(1);
    const none = await start("error500", "hugeError");
    const begin = performance.now();
    const { status, json, headers } = await none.post("/v1/chat/completions", allowed);
    expect(status).toBe(500);
    expect(json.error.type).toBe("upstream_error");
    const { log, store } = none;
    await log.flush();
    const { answers } = (await store.decision(headers.get("x-joust-decision-id")!))!;
    expect(answers).toMatchObject([{ slot: 0, status: "failed", fallbacks: [{}] }]);
    expect(answers[0]!.latencyMs).toBeLessThan(performance.now() - begin);
  });
});
