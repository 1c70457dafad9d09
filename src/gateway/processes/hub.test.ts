import { duplexPair } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { Link } from "../../core/processes/link.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { Forecasts } from "../insight/forecasts.ts";
import type { LogForecast } from "../insight/log-forecast.ts";
import { LinkedPeers } from "../peers/linked-peers.ts";
import { Guard } from "../routing/guard.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Serving } from "../routing/serving.ts";
import { newLogger } from "../telemetry/logger.ts";
import { Hub, type Member } from "./hub.ts";

/** Adds processes to a hub. */
function newHub(count: number) {
  const hub = new Hub({ count, now: () => 0 });
  const join = (): { readonly peers: LinkedPeers; readonly member: Member } => {
    const [near, far] = duplexPair();
    const member = hub.add(new Link(far));
    const peers = new LinkedPeers(new Link(near));
    peers.join(hub.membershipOf(member));
    return { peers, member };
  };
  return { hub, join };
}

describe("processes that are linked to a hub", () => {
  it("tell each other news, and a later one gets those that are kept", async () => {
    const { join } = newHub(3);
    const [a, b] = [join().peers, join().peers];
    const heard: unknown[] = [];
    b.on("topic", (news: unknown) => heard.push(news));
    a.on("topic", (news: unknown) => heard.push(["own", news]));
    a.tell("topic", 1);
    a.keep("topic", "key", 2);
    a.keep("topic", "key", 3);
    await expect.poll(() => heard).toEqual(expect.arrayContaining([1, 2, 3]));
    expect(heard).toHaveLength(3);
    const late: unknown[] = [];
    join().peers.on("topic", (news: unknown) => late.push(news));
    expect(late).toEqual([3]);
  });

  it("ask each other, and do not wait for a process that ends", async () => {
    const { hub, join } = newHub(3);
    const [a, b, c] = [join(), join(), join()];
    b.peers.answer("sum", (n: number) => n + 1);
    c.peers.answer("sum", () => new Promise(() => {}));
    const answers = a.peers.ask("sum", 4);
    c.member.calls.end(new Error("the process has ended"));
    hub.remove(c.member);
    expect(await answers).toEqual([5]);
    expect(await b.peers.ask("unknown")).toEqual([]);
  });

  it("know the first one, and the next when it has ended", async () => {
    const { hub, join } = newHub(2);
    const [a, b] = [join(), join()];
    expect([a.peers.isFirst, b.peers.isFirst]).toEqual([true, false]);
    const gone = new Promise((found) => b.peers.onGone(found));
    const isFirst = new Promise<void>((found) => b.peers.onFirst(found));
    hub.remove(a.member);
    expect(await gone).toBe(a.peers.id);
    await isFirst;
    expect(b.peers.isFirst).toBe(true);
  });

  it("share the rate of a client", async () => {
    const { join } = newHub(2);
    const all = [join().peers, join().peers, join().peers];
    const waits = await Promise.all(all.map(({ limits }) => limits.take(2, "k")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(2);
  });
});

describe("work that one process does for all", () => {
  const logger = newLogger("silent");

  it("the guard: the others serve its model, also those that start later", async () => {
    const { join } = newHub(3);
    const serve = (peers: LinkedPeers) => {
      const router = { name: "auto", guard: undefined } as unknown as LiveRouter;
      const serving = { routers: new Map([["auto", router]]) } as unknown as Serving;
      const place = { folder: "", store: { file: "" } };
      const guard = new Guard(() => serving, place, logger, 1e8, peers);
      onTestFinished(() => guard.stop());
      return router;
    };
    const [a, b] = [join().peers, join().peers];
    const there = serve(b);
    a.keep("guard", "guard auto", ["auto", "fixed"]);
    await expect.poll(() => there.guard).toBe("fixed");
    expect(serve(join().peers).guard).toBe("fixed");
  });

  it("a forecast: the others show it and do not compute it", async () => {
    const { join } = newHub(2);
    const [a, b] = [join().peers, join().peers];
    const forecasts = new Forecasts(
      { folder: "", store: { file: "" } },
      new StandingClock(),
      logger,
      b,
    );
    const router = {
      name: "auto",
      config: { cost_quality_tradeoff: 3 },
      view: { version: 5 },
    } as unknown as LiveRouter;
    const forecast = { votes: 7 } as unknown as LogForecast;
    expect(forecasts.of(router)).toBeUndefined();
    a.keep("forecast", "forecast auto", ["auto", "5 3", forecast]);
    await expect.poll(() => forecasts.of(router)).toEqual(forecast);
    await forecasts.stop();
  });
});
