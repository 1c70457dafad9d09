import { describe, expect, it } from "vitest";
import { chat, configOf, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";

async function start() {
  const host = await startFaultyUpstream();
  const gateway = await startGateway(`
providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}}
metrics:
  thumbs: {type: boolean}
  errors: {type: number, min: 0, max: 10, direction: lower}
  stars: {type: rating, min: 1, max: 5}
  value: {type: boolean}
  solved: {type: boolean, level: session, weight: 1}`);
  const { post, get } = gateway;
  return {
    ...gateway,
    ask: async (text: string, joust: object = { session_id: "s" }) =>
      (await post("/v1/chat/completions", chat(text, { joust }))).json.id as string,
    send: (body: object) => post("/v1/feedback", body),
    votesOf: async (id: string) => (await get(`/v1/decisions/${id}`)).json.votes,
    counted: async () => (await get("/v1/stats")).json.counts.votes as number,
  };
}

describe("metrics", () => {
  it("are learned and shown: several of a decision, with their values and the comment", async () => {
    const { ask, send, votesOf, counted } = await start();
    const id = await ask("one");
    const feedback = { id, metrics: { thumbs: true, errors: 10 }, comment: "many errors" };
    expect((await send(feedback)).json.status).toBe("logged");
    expect((await send(feedback)).json.status).toBe("repeated");
    expect((await send({ id, metrics: { thumbs: false } })).status).toBe(409);
    const undeclared = await send({ id, metrics: { latency: 3 } });
    expect(undeclared.json.error).toMatchObject({ code: "undeclared_metric" });
    expect(await votesOf(id)).toMatchObject([
      { rating: 1, metric: { name: "thumbs", value: true } },
      { rating: -1, metric: { name: "errors", value: 10 } },
      { comment: "many errors" },
    ]);
    expect(await counted()).toBe(2);
  });

  it("are all logged or, if one of them differs from before, none, and the error names it", async () => {
    const { ask, send, votesOf } = await start();
    const id = await ask("one");
    await send({ id, metrics: { errors: 3 }, comment: "a" });
    const changed = { thumbs: true, errors: 4, stars: 5 };
    const refused = await send({ id, metrics: changed, comment: "b" });
    expect(refused.status).toBe(409);
    expect(refused.json.error).toMatchObject({
      code: "vote_changed",
      param: "metrics.errors",
      message: expect.stringContaining("another value of the metric errors"),
    });
    expect(await votesOf(id)).toHaveLength(2);
    await send({ trace_id: id, value: true });
    const portkey = await send({ trace_id: id, value: false });
    expect(portkey.json.error).toMatchObject({ code: "vote_changed", param: "value" });
    expect((await send({ id, metrics: { ...changed, errors: 3 } })).json.status).toBe("logged");
    expect(await votesOf(id)).toHaveLength(5);
  });

  it("beyond the third of a decision are named in the response, because they teach nothing", async () => {
    const { ask, send, store } = await start();
    const id = await ask("one");
    const feedback = { id, metrics: { thumbs: true, errors: 3, stars: 5, value: true } };
    const last = { status: "logged", not_learned: ["metrics.value"] };
    expect((await send(feedback)).json).toMatchObject(last);
    expect((await send(feedback)).json).toMatchObject({ ...last, status: "repeated" });
    const rated = (await send({ id, rating: 1, comment: "good" })).json;
    expect(rated).toMatchObject({ status: "logged", not_learned: ["rating"] });
    const other = await send({ id: await ask("two"), rating: 1, comment: "good" });
    expect("not_learned" in other.json).toBe(false);
    const votes = await store.logEvents("auto", 0, 100);
    const weights = votes.flatMap((event) => (event.kind === "voted" ? [event.weight] : []));
    expect(weights).toEqual([0.5, 0.5, 0.5, 0, 0, 0, 1, 0]);
  });

  it("are refused together with a vote if they do not say which answer they rate", async () => {
    const { ask, send, votesOf } = await start();
    const duel = await ask("one", { duel: true });
    const both = { id: duel, winner: 0, metrics: { thumbs: true } };
    expect((await send(both)).json.error).toMatchObject({ param: "slot" });
    expect(await votesOf(duel)).toEqual([]);
    expect((await send({ ...both, slot: 0 })).json.status).toBe("logged");
    expect(await votesOf(duel)).toHaveLength(2);
  });

  it("of a session rate its single answers, which share the weight", async () => {
    const { ask, send, votesOf, store } = await start();
    const [first, second] = [await ask("one"), await ask("two")];
    const duel = await ask("three", { session_id: "s", duel: true });
    const other = await ask("four", { session_id: "t" });
    // TensorZero's form, then the same with the id of a decision.
    expect((await send({ episode_id: "s", metric_name: "solved", value: true })).status).toBe(200);
    const again = await send({ id: duel, metric_name: "solved", value: true });
    expect(again.json.status).toBe("repeated");
    expect(again.json.models).toBeUndefined();
    for (const id of [first, second]) {
      expect(await votesOf(id)).toMatchObject([{ metric: { name: "solved", value: true } }]);
    }
    expect([await votesOf(duel), await votesOf(other)]).toEqual([[], []]);
    const votes = await store.logEvents("auto", 0, 100);
    const weights = votes.flatMap((event) => (event.kind === "voted" ? [event.weight] : []));
    expect(weights).toEqual([0.5, 0.5]);

    const unknown = await send({ episode_id: "u", metric_name: "solved", value: true });
    expect([unknown.status, unknown.json.error.code]).toEqual([404, "decision_not_found"]);
  });
});

describe("a comment alone", () => {
  it("is stored, is not counted, and does not reveal the models of a duel", async () => {
    const { ask, send, get, votesOf, counted, store } = await start();
    const id = await ask("one", { duel: true });
    const comment = { id, comment: "both are too long" };
    const receipt = (await send(comment)).json;
    expect(receipt.status).toBe("logged");
    expect(receipt.models).toBeUndefined();
    expect((await send(comment)).json.status).toBe("repeated");
    expect((await send({ id, comment: "and wrong" })).json.status).toBe("logged");
    expect((await get(`/v1/decisions/${id}`)).json.hidden).toBeTruthy();
    // Comments leave the ballot unused and do not count among the three votes of a decision.
    expect((await send({ id, winner: 0 })).json.models).toHaveLength(2);
    expect(await votesOf(id)).toMatchObject([
      { comment: "both are too long" },
      { comment: "and wrong" },
      { outcome: "a" },
    ]);
    expect(await counted()).toBe(1);
    const last = (await store.logEvents("auto", 0, 100)).at(-1);
    expect(last).toMatchObject({ weight: 1 });
  });

  it("belongs to the newest decision of the session if only the session is named", async () => {
    const { ask, send, votesOf } = await start();
    const [first, second] = [await ask("one"), await ask("two")];
    await send({ episode_id: "s", metric_name: "comment", value: "slow" });
    expect(await votesOf(first)).toEqual([]);
    expect(await votesOf(second)).toMatchObject([{ comment: "slow" }]);
  });
});

it.each([
  "x: {type: number}",
  "x: {type: rating, min: 5, max: 1}",
  "x: {type: boolean, min: 0}",
  "x: {type: text}",
])("metrics are refused in the configuration: %s", (line) => {
  expect(() => configOf(`metrics: {${line}}`)).toThrow();
});
