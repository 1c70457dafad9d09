import { expect, it } from "vitest";
import { chat, startFaultyUpstream, startGateway, type TestGateway } from "../gateway.fixture.ts";
import { newLogger } from "../telemetry/logger.ts";
import { Guard } from "./guard.ts";

/** Starts duels and votes for the favourite, and for a tie in duels without it. */
async function vote({ post, store, log }: TestGateway, duels: number, favourite: string) {
  const one = async (i: number) => {
    const { json } = await post("/v1/chat/completions", chat(`hi ${i}`, { joust: { duel: true } }));
    await log.flush();
    const { decision } = (await store.decision(json.joust.decision_id))!;
    const slot = decision.pair.indexOf(favourite);
    const { status } = await post("/v1/feedback", { id: json.id, winner: slot < 0 ? "tie" : slot });
    expect(status).toBe(200);
  };
  for (let i = 0; i < duels; i += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => one(i + k)));
  }
}

const AT_ONCE = 20;

it("serves one model while votes show that routing does worse, and reports it", async () => {
  const host = await startFaultyUpstream();
  const running = await startGateway(
    `providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}, c: {provider: p}}
routers: {auto: {policy: random, explore: 0.5}}`,
  );
  const { serving, folder, get, post } = running;
  const lines: string[] = [];
  const logger = newLogger("info", { write: (line) => void lines.push(line) });
  const store = { file: `${folder}/joust.db` };
  const guard = new Guard(serving, { folder, store }, logger, 1e8);
  const router = serving().routers.get("auto")!;
  /** Waits until the router has learned from all votes, then checks. */
  const check = async () => {
    const head = await running.store.head("auto");
    await expect.poll(() => router.view.version).toBe(head);
    await guard.check();
  };

  await vote(running, 100, "b");
  await check();
  expect(router.guard).toBeUndefined(); // too few

  await vote(running, 160, "b");
  await check();
  expect(router.guard).toBe("b");
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ router: "auto", model: "b" });
  expect(lines.at(-1)).toContain("one model does better than routing");
  expect((await get("/v1/stats")).json.guard).toBe("b");
  expect((await get("/metrics")).text).toMatch(/joust_guard_on\{router="auto"\} 1/);
  const { json } = await post("/v1/route", chat("hi"));
  expect(json.reasons.join()).toContain("the guard is on");

  // Duels that are requested still take place.
  await vote(running, 560, "a");
  await check();
  expect(router.guard).toBe("a");
  await guard.stop();
});
