import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { freeze } from "../../learner/controls.ts";
import { chat, startGateway } from "../gateway.fixture.ts";
import { profile } from "../sandbox/profile.fixture.ts";

/**
 * An upstream whose truth is known. On prompt n, the answer of the model `new` is worse than that of `old` if n is a
 * multiple of 4, as good if n is one more than such a multiple, and better otherwise. The judge prefers the first of
 * two equal answers.
 */
async function startModels() {
  const calls: string[] = [];
  const limits = new Map<string, unknown[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const { model, messages, max_tokens } = JSON.parse(Buffer.concat(chunks).toString());
    const last: string = messages.at(-1).content;
    calls.push(`${model} ${last.slice(0, 20)}`);
    limits.set(model, [...(limits.get(model) ?? []), max_tokens]);
    const n = Number(/prompt (\d+)/.exec(last)?.[1]);
    const quality = model === "old" ? [1, 1, 0, 0][n % 4] : [0, 1, 1, 1][n % 4];
    const [a, b] = Array.from(last.matchAll(/quality (\d)/g), ([, value]) => Number(value));
    const length = model === "new" && last.startsWith("long") ? 30_000 : 0;
    const answer = `quality ${quality}${" ".repeat(length)}`;
    const content = model === "judge" ? (b! > a! ? "B" : "A") : answer;
    const choice = { index: 0, finish_reason: "stop", message: { role: "assistant", content } };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "1", model, choices: [choice], usage }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, calls, limits };
}

const write = temporaryFolder();
/** Told scores by which routers choose the model `new`. */
const scores = () =>
  write(
    "scores.csv",
    `model,category,perf,cost\n${profile.categories
      .map((category) => `old,${category},0.1,0\nnew,${category},0.9,0`)
      .join("\n")}\n`,
  );
const routerOf = (judge: string) =>
  `{models: [old, new], mode: observe, fallback: old, explore: 0, cost_quality_tradeoff: 0, scores: "${scores()}", judge: {model: judge, share: 1${judge}}}`;

const yamlOf = (url: string, routers: string) => `providers: {p: {url: "${url}"}}
models:
  old: {provider: p, price: {input: 2, output: 2}}
  new: {provider: p, price: {input: 1, output: 1}}
  judge: {provider: p, price: {input: 1, output: 1}}
routers: ${routers}`;

it("compares the router's choice with what is served, in both orders, and reports the truth", async () => {
  const { url, calls, limits } = await startModels();
  const { post, get, store } = await startGateway(yamlOf(url, `{auto: ${routerOf("")}}`));
  expect((await get("/v1/stats")).json.shadow).toBeNull();
  // The router keeps its choice, so that the true win rate stays the same.
  await freeze(store, "auto", Date.now());
  const votes = async () =>
    (await store.logEvents("auto", 0, 100)).filter((event) => event.kind === "voted");
  for (let n = 0; n < 40; n++) {
    const answer = await post("/v1/chat/completions", chat(`prompt ${n}`));
    expect(answer.json.choices[0].message.content).toBe(`quality ${[1, 1, 0, 0][n % 4]}`);
    await expect.poll(votes, { timeout: 60_000 }).toHaveLength(n + 1);
  }
  const outcomes = (await votes()).map(({ models, verdict, source }) => ({
    models,
    verdict,
    source,
  }));
  for (const [n, vote] of outcomes.entries()) {
    const outcome = ["b", "tie", "a", "a"][n % 4];
    expect(vote).toEqual({ models: ["new", "old"], verdict: { outcome }, source: "judge" });
  }
  expect(calls.filter((call) => call.startsWith("judge"))).toHaveLength(80);
  expect(new Set(limits.get("judge"))).toEqual(new Set([undefined]));
  // The cost of both verdicts is logged.
  const verdicts = async () => {
    const span = { router: "(direct)", from: 0, to: Date.now() + 600_000, step: 300_000 };
    const own = (await store.tallies(span)).filter(({ model }) => model === "judge");
    return own.reduce((sum, { counts }) => sum + counts.answers, 0);
  };
  await expect.poll(verdicts).toBe(80);
  const { shadow } = (await get("/v1/stats")).json;
  expect(shadow.comparisons).toBe(40);
  // The true win rate is 5/8. Two more comparisons keep the interval from being empty.
  expect(shadow.win_rate.mean).toBeCloseTo(26 / 42, 9);
  expect(shadow.win_rate.lo).toBeLessThan(5 / 8);
  expect(shadow.win_rate.hi).toBeGreaterThan(5 / 8);
  expect(shadow.cost.mean).toBeCloseTo(-7e-6, 9);
  expect(shadow.latency_ms.lo).toBeLessThanOrEqual(shadow.latency_ms.hi);
  // Nothing is counted twice.
  expect((await get("/v1/stats")).json.shadow).toEqual(shadow);
});

it("makes no comparison that would exceed the budget of the day", async () => {
  const { url, calls } = await startModels();
  const router = (budget: number) => routerOf(`, budget: ${budget}`);
  const { post, store, lines } = await startGateway(
    yamlOf(url, `{poor: ${router(0.01)}, rich: ${router(5)}}`),
  );
  await post("/v1/chat/completions", chat("prompt 2", { model: "poor" }));
  await post("/v1/chat/completions", chat("prompt 3", { model: "rich" }));
  const votes = async (name: string) =>
    (await store.logEvents(name, 0, 100)).filter((event) => event.kind === "voted");
  await expect.poll(() => votes("rich"), { timeout: 60_000 }).toHaveLength(1);
  expect(await votes("poor")).toHaveLength(0);
  expect(calls.filter((call) => call === "new prompt 2")).toHaveLength(0);
  expect(calls.filter((call) => call === "new prompt 3")).toHaveLength(1);
  // The operator is told once, because the router would otherwise never compare anything without a reason.
  await post("/v1/chat/completions", chat("prompt 6", { model: "poor" }));
  await post("/v1/chat/completions", chat("prompt 7", { model: "rich" }));
  await expect.poll(() => votes("rich"), { timeout: 60_000 }).toHaveLength(2);
  const told = lines.filter((line) => line.includes("may cost more than judge.budget"));
  expect(told.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", router: "poor", budget: 0.01, dollars: expect.any(Number) },
  ]);
});

it("reserves the verdicts by the lengths of the answers, so that a small budget can be used", async () => {
  const { url, calls, limits } = await startModels();
  const router = routerOf(", budget: 0.02");
  const { post, store, lines } = await startGateway(yamlOf(url, `{auto: ${router}}`));
  const votes = async () =>
    (await store.logEvents("auto", 0, 100)).filter((event) => event.kind === "voted");
  const ask = (text: string) => post("/v1/chat/completions", chat(text, { max_tokens: 10 }));
  for (let n = 0; n < 5; n++) {
    await ask(`prompt ${n}`);
    await expect.poll(votes, { timeout: 60_000 }).toHaveLength(n + 1);
  }
  // The second answer is so long that the verdicts on it may cost more than the budget.
  await ask("long prompt 6");
  await expect.poll(() => lines.some((line) => line.includes("judge.budget"))).toBe(true);
  await ask("prompt 7");
  await expect.poll(votes, { timeout: 60_000 }).toHaveLength(6);
  expect(calls.filter((call) => call.startsWith("new"))).toHaveLength(7);
  expect(calls.filter((call) => call.startsWith("judge"))).toHaveLength(12);
  // The limit of a verdict is what was reserved for it.
  expect(new Set(limits.get("judge"))).toEqual(new Set([2000]));
});
