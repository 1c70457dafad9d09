import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StreamText } from "../dialects/chat/answer-text.ts";
import { chat, PATIENCE, SOON, startGateway } from "../gateway.fixture.ts";
import { verdictIn } from "./judge-prompt.ts";

vi.setConfig(PATIENCE);

it.each([
  ["A", "a"],
  [" b. ", "b"],
  ["Both are fine.\n**TIE**", "tie"],
  ["bad", "both_bad"],
  ["a tie", undefined],
  ["I think A is better", undefined],
  ["", undefined],
])("the judge's %j means %s", (reply, outcome) => {
  expect(verdictIn(reply)).toBe(outcome);
});

it("the text of a stream is that of its choices", () => {
  const text = new StreamText();
  const event = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
  const bytes = Buffer.from(
    `${event(0, "é")}: hi\n\n${event(1, "b")}${event(0, "a")}data: [DONE]\n\n`,
  );
  for (let i = 0; i < bytes.length; i += 7) text.push(bytes.subarray(i, i + 7));
  expect([text.text(0), text.text(1), text.text(2)]).toEqual(["éa", "b", ""]);
});

/** A host whose model `good` says so, and whose judge prefers it. */
async function startModels() {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const last: string = asked.messages.at(-1).content;
    const judged = /<answer_a>\s*(\w+)/.exec(last)?.[1] === "good" ? "A" : "B";
    const content = asked.model === "judge" ? judged : `${asked.model} says hi`;
    const message = { role: "assistant", content };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const choice = { index: 0, finish_reason: "stop" };
    const event = { id: "1", model: asked.model, choices: [{ ...choice, delta: message }] };
    response.setHeader("content-type", asked.stream ? "text/event-stream" : "application/json");
    response.end(
      asked.stream
        ? `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`
        : JSON.stringify({ id: "1", model: asked.model, choices: [{ ...choice, message }], usage }),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe("a judge", () => {
  it.each([
    ["duels", true, false],
    ["streamed duels", true, true],
    ["single answers, beside which it has another one made", false, false],
    ["streamed answers", false, true],
  ])("votes on %s, with its own weight, and the router learns from it", async (_, duel, stream) => {
    const url = await startModels();
    const { post, get, gateway } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, judge: {provider: p}}
routers: {auto: {models: [bad, good], explore: 0, judge: {model: judge, share: 1, weight: 0.5}}}`,
    );
    const answer = await post("/v1/chat/completions", chat("hi", { stream, joust: { duel } }));
    expect(answer.status).toBe(200);
    const { store } = gateway;
    const votes = async () =>
      (await store.learning("auto", 0, 100)).filter((event) => event.kind === "voted");
    await expect.poll(votes, SOON).toHaveLength(1);
    const [vote] = await votes();
    expect(vote).toMatchObject({ voter: "judge:judge", source: "judge", weight: 0.5 });
    const { models, verdict } = vote as unknown as { models: string[]; verdict: object };
    expect(verdict).toEqual({ outcome: models[0] === "good" ? "a" : "b" });
    expect(models.toSorted()).toEqual(["bad", "good"]);
    // People are still to vote blind.
    const [point] = (await get("/v1/map")).json.points;
    expect("models" in point).toBe(!duel);
    expect("models" in (await get(`/v1/decisions/${point.id}`)).json).toBe(!duel);
    await expect
      .poll(async () => (await post("/v1/route", chat("hi"))).json.model, SOON)
      .toBe("good");
  });

  it("that names no winner does not vote, and the operator is told", async () => {
    const url = await startModels();
    const { post, get, lines } = await startGateway(
      `providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, chatty: {provider: p}}
routers: {auto: {models: [bad, good], judge: {model: chatty, share: 1}}}`,
    );
    const { json } = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
    await expect.poll(() => lines.join(""), SOON).toMatch(/chatty named no winner.*"hint":/);
    expect((await get("/metrics")).text).toContain(
      'joust_votes_total{source="judge",status="failed"} 1',
    );
    expect((await get(`/v1/decisions/${json.joust.decision_id}`)).json.votes).toEqual([]);
  });
});
