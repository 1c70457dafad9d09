import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Logged, Voted } from "../../store/events.ts";
import { startDialectUpstream } from "../dialect-upstream.fixture.ts";
import { chat, startGateway } from "../gateway.fixture.ts";
import { verdictIn } from "./judge-prompt.ts";

it.each([
  ["A", "a"],
  [" b. ", "b"],
  ["Both are fine.\n**TIE**", "tie"],
  ["bad", "both_bad"],
  ["a tie", undefined],
  ["I think A is better", undefined],
  ["", undefined],
])("reads the judge's reply %j as %s", (reply, outcome) => {
  expect(verdictIn(reply)).toBe(outcome);
});

/** Starts an upstream whose model `good` starts its answers with "good", and whose judge prefers them. */
async function startModels() {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const received = JSON.parse(Buffer.concat(chunks).toString());
    const last: string = received.messages.at(-1).content;
    const judged = /<answer_a>\s*(\w+)/.exec(last)?.[1] === "good" ? "A" : "B";
    const content = received.model === "judge" ? judged : `${received.model} says hi`;
    const message = { role: "assistant", content };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const choice = { index: 0, finish_reason: "stop" };
    const event = { id: "1", model: received.model, choices: [{ ...choice, delta: message }] };
    response.setHeader("content-type", received.stream ? "text/event-stream" : "application/json");
    response.end(
      received.stream
        ? `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`
        : JSON.stringify({
            id: "1",
            model: received.model,
            choices: [{ ...choice, message }],
            usage,
          }),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const BAND = { mean: expect.any(Number), lo: expect.any(Number), hi: expect.any(Number) };

describe("a judge", () => {
  it.each([
    ["duels", true, false],
    ["streamed duels", true, true],
    ["single answers, which it compares with a second one", false, false],
    ["streamed answers", false, true],
  ])("votes on %s, with its own weight, and the router learns from it", async (_, duel, stream) => {
    const url = await startModels();
    const { post, get, store } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, judge: {provider: p}}
routers: {auto: {models: [bad, good], explore: 0, judge: {model: judge, share: 1, weight: 0.5}}}`,
    );
    const answer = await post("/v1/chat/completions", chat("hi", { stream, joust: { duel } }));
    expect(answer.status).toBe(200);
    const votes = async () =>
      (await store.logEvents("auto", 0, 100)).filter((event) => event.kind === "voted");
    await expect.poll(votes).toHaveLength(1);
    const [vote] = await votes();
    expect(vote).toMatchObject({ voter: "judge:judge", source: "judge", weight: 0.5 });
    const { models, verdict, traits } = vote as Logged<Voted>;
    expect(verdict).toEqual({ outcome: models[0] === "good" ? "a" : "b" });
    // "good says hi" is one character longer than "bad says hi".
    const longer = Math.log(13 / 12);
    expect(traits?.length).toBeCloseTo(models[0] === "good" ? longer : -longer, 12);
    expect(traits?.own).toBe(0);
    expect(models.toSorted()).toEqual(["bad", "good"]);
    // The models of a duel stay hidden until a person has voted.
    const [point] = (await get("/v1/map")).json.points;
    expect("models" in point).toBe(!duel);
    expect("models" in (await get(`/v1/decisions/${point.id}`)).json).toBe(!duel);
    await expect.poll(async () => (await post("/v1/route", chat("hi"))).json.model).toBe("good");
    const { voters } = (await get("/v1/stats")).json;
    expect(voters).toEqual([
      { kind: "judge:judge", votes: 1, scale: BAND, first: BAND, length: BAND, own_family: BAND },
    ]);
  });

  it.each([
    ["/v1/messages", { messages: [{ role: "user", content: "hi" }], max_tokens: 9 }],
    ["/v1/responses", { input: "hi" }],
  ])("votes on single answers of %s", async (path, request) => {
    const url = await startModels();
    const { post, store } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, judge: {provider: p}}
routers: {auto: {models: [bad, good], explore: 0, judge: {model: judge, share: 1}}}`,
    );
    for (const stream of [false, true]) {
      expect((await post(path, { model: "auto", stream, ...request })).status).toBe(200);
    }
    const votes = async () =>
      (await store.logEvents("auto", 0, 100)).filter((event) => event.kind === "voted");
    await expect.poll(votes).toHaveLength(2);
  });

  it("does not compare an answer that broke off", async () => {
    const host = await startDialectUpstream();
    const chunk = { choices: [{ index: 0, delta: { content: "A" }, finish_reason: null }] };
    const message = { role: "assistant", content: "A" };
    const whole = { choices: [{ index: 0, message, finish_reason: "stop" }] };
    host.answer = ({ body }) => (body.stream ? { body: [chunk], breaks: true } : { body: whole });
    const { post, store } = await startGateway(
      `${host.yaml}  other: {provider: chat-provider}
routers: {auto: {models: [chat-model, other], judge: {model: chat-model, share: 1}}}`,
    );
    const ask = (stream: boolean) => post("/v1/chat/completions", chat("hi", { stream }));
    expect((await ask(true)).text).toContain("upstream_unreachable");
    const { json } = await ask(false);
    const votes = async () =>
      (await store.logEvents("auto", 0, 100)).filter((event) => event.kind === "voted");
    await expect.poll(votes).not.toEqual([]);
    const decisions = (await votes()).map(({ decision }) => decision);
    expect(decisions).toEqual([expect.stringContaining(json.joust.decision_id)]);
  });

  it("does not charge the budget of the router for the answers that it compares", async () => {
    const url = await startModels();
    const price = "price: {input: 1, output: 1}";
    const { post, store, serving } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p, ${price}}, good: {provider: p, ${price}}, judge: {provider: p}}
routers: {auto: {models: [bad, good], budget: 100, judge: {model: judge, share: 1}}}`,
    );
    expect((await post("/v1/chat/completions", chat("hi"))).status).toBe(200);
    await expect
      .poll(async () => (await store.logEvents("auto", 0, 100)).map(({ kind }) => kind))
      .toContain("voted");
    // Each charge of far less than the budget adds almost 1 to the sum of squares.
    const { pacer } = serving().routers.get("auto")!.view.router.snapshot().serving!;
    expect(pacer!.squares).toBeCloseTo(1, 3);
  });

  it("has answers made that do not count as given, and that exports leave out", async () => {
    const url = await startModels();
    const { post, get } = await startGateway(
      `providers: {p: {url: "${url}"}}
models:
  bad: {provider: p, price: {input: 1, output: 1}}
  good: {provider: p, price: {input: 100, output: 100}}
  judge: {provider: p}
routers: {auto: {models: [bad, good], explore: 0, cost_quality_tradeoff: 10, judge: {model: judge, share: 1}}}`,
    );
    for (const prompt of ["one", "two"]) {
      expect((await post("/v1/chat/completions", chat(prompt))).json.model).toBe("bad");
    }
    const stats = async () => (await get("/v1/stats")).json;
    await expect.poll(async () => (await stats()).counts.answers).toBe(4);
    const { models, series, spend } = await stats();
    expect(models).toEqual([
      expect.objectContaining({ model: "bad", given: 2, share: 1, calls: 2 }),
      expect.objectContaining({ model: "good", given: 0, share: 0, calls: 2 }),
    ]);
    const inSeries = (model: string) =>
      series.reduce((sum: number, { given }: typeof series) => sum + (given[model] ?? 0), 0);
    expect([inSeries("bad"), inSeries("good")]).toEqual([2, 0]);
    // Each answer has 7 tokens.
    expect(spend.learning).toBeCloseTo(2 * 7e-4, 12);
    const [columns, ...rows] = (await get("/v1/decisions/export")).text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    const cells = (name: string) => rows.map((row) => row[columns!.indexOf(name)]);
    expect(cells("status")).toEqual(["ok", "ok"]);
    expect(cells("cost").map(Number)).toEqual([7e-6, 7e-6]);
    expect(cells("output_tokens")).toEqual(["4", "4"]);
  });

  it("does not vote if it names no winner, and logs a warning", async () => {
    const url = await startModels();
    const { post, get, lines } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, chatty: {provider: p}}
routers: {auto: {models: [bad, good], judge: {model: chatty, share: 1}}}`,
    );
    const { json } = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
    await expect.poll(() => lines.join("")).toMatch(/chatty named no winner.*"hint":/);
    expect((await get("/metrics")).text).toContain(
      'joust_votes_total{source="judge",status="failed"} 1',
    );
    expect((await get(`/v1/decisions/${json.joust.decision_id}`)).json.votes).toEqual([]);
  });
});
