import { describe, expect, it } from "vitest";
import type { Stage } from "../../api/sandbox.ts";
import { JoustClient } from "../../client/client.ts";
import {
  chat,
  SANDBOX,
  sharedGateway,
  startFaultyUpstream,
  startGateway,
} from "../gateway.fixture.ts";

const gateway = sharedGateway(() => `${SANDBOX}\nrouters: {auto: {explore: 0}}`);

describe("simulated voters", () => {
  it("vote through the public interface until they are stopped, and every vote counts", async () => {
    const { post, get } = gateway();
    const truth = await get("/v1/sandbox/truth");
    expect(truth.json.categories).toHaveLength(7);
    expect(truth.json.models).toHaveLength(5);
    await post("/v1/sandbox/voters", { on: true, votes_per_minute: 6000 });
    const state = async () => (await get("/v1/sandbox/voters")).json;
    await expect.poll(async () => (await state()).cast).toBeGreaterThan(40);
    await post("/v1/sandbox/voters", { on: false });
    // Voters that have their answers still vote.
    const counted = async () => {
      const { cast, failed } = await state();
      const { requests, duels, votes } = (await get("/v1/stats")).json.counts;
      // Each voter also sends a request that one model answers.
      return { failed, uncounted: [requests - 2 * cast, duels - cast, votes - cast] };
    };
    await expect.poll(counted).toEqual({ failed: 0, uncounted: [0, 0, 0] });
    expect(await state()).toMatchObject({ on: false });
  });

  it("stop after a number of votes, and compare routing with the best single model", async () => {
    const { post, get } = gateway();
    const { cast } = (await get("/v1/sandbox/voters")).json;
    await post("/v1/sandbox/voters", { on: true, votes_per_minute: 6000, stop_after: 30 });
    const state = async () => (await get("/v1/sandbox/voters")).json;
    await expect.poll(state).toMatchObject({ on: false, cast: cast + 30, stop_at: null });
    const { stages, best_model: best } = await state();
    const sum = (of: (stage: Stage) => number) =>
      stages.reduce((total: number, stage: Stage) => total + of(stage), 0);
    expect(sum(({ requests }) => requests)).toBe(cast + 30);
    const { models } = (await get("/v1/sandbox/truth")).json;
    const truth = models.find(({ model }: { model: string }) => model === best);
    for (const { best_cost, best_quality } of stages) {
      expect(best_cost).toBeGreaterThanOrEqual(Math.min(...truth.cost));
      expect(best_quality).toBeLessThanOrEqual(Math.max(...truth.quality));
    }
  });

  it("exist only with the sandbox", async () => {
    const host = await startFaultyUpstream();
    const { get, post } = await startGateway(
      `providers: {p: {url: "${host.url("well")}"}}\nmodels: {a: {provider: p}}`,
    );
    expect((await get("/v1/sandbox/truth")).status).toBe(404);
    expect((await post("/v1/sandbox/voters", { on: true })).status).toBe(404);
  });
});

describe("stats", () => {
  it("contain counts and estimates with intervals", async () => {
    const { post, get } = gateway();
    const before = (await get("/v1/stats?router=auto&hours=1")).json;
    await post("/v1/chat/completions", chat("hi"));
    const { json } = await get("/v1/stats?hours=1");
    expect(json.counts.requests).toBe(before.counts.requests + 1);
    expect(json.leaderboard.categories).toHaveLength(7);
    const shares = json.leaderboard.categories.map(({ share }: { share: number }) => share);
    expect(shares.reduce((sum: number, share: number) => sum + share, 0)).toBeCloseTo(1, 6);
    for (const { value, lo, hi, best } of json.leaderboard.overall) {
      expect(lo).toBeLessThan(value);
      expect(hi).toBeGreaterThan(value);
      expect(best).toBeGreaterThanOrEqual(0);
    }
    const total = json.leaderboard.overall.reduce(
      (sum: number, { value }: { value: number }) => sum + value,
      0,
    );
    expect(total).toBeCloseTo(0, 8);
    for (const band of [json.regret, json.win_rate, json.quality]) {
      expect(band.lo).toBeLessThanOrEqual(band.mean);
      expect(band.hi).toBeGreaterThanOrEqual(band.mean);
    }
    expect(json.regret.lo).toBeGreaterThanOrEqual(0);
    const { total: spent, by_model, always_best, always_cheapest } = json.spend;
    const sum = Object.values<number>(by_model).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(spent, 10);
    expect(always_best.savings).toBeCloseTo(always_best.cost - spent, 10);
    expect(always_cheapest.cost).toBeLessThanOrEqual(always_best.cost);
    expect((await get("/v1/stats?router=nobody")).status).toBe(404);
    expect((await get("/v1/stats?hours=x")).status).toBe(400);
  });

  it("evaluate the choices in stretches from the first request of the window on", async () => {
    // A gateway of its own: of many requests at nearly the same time, only some are evaluated.
    const { post, get } = await startGateway(SANDBOX);
    for (let i = 0; i < 9; i++) {
      const duel = chat(`hi ${i}`, { joust: { duel: true } });
      const { id } = (await post("/v1/chat/completions", duel)).json;
      await post("/v1/feedback", { id, winner: 0 });
    }
    const version = async () => (await get("/v1/stats")).json.posterior_version;
    await expect.poll(version).toBeGreaterThan(0);
    const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
    const stretchesNow = async () =>
      (await get("/v1/learning?hours=1")).json.stretches as Record<string, never>[];
    // The last decision is logged after its response, so the two counts are compared until they agree.
    await expect
      .poll(async () => {
        const { requests } = (await get("/v1/stats?hours=1")).json.counts;
        return sum((await stretchesNow()).map((stretch) => stretch.requests!)) - requests;
      })
      .toBe(0);
    const stretches = await stretchesNow();
    expect(stretches[0]!.fallen).toEqual({ mean: 0, lo: 0, hi: 0, sure: 0 });
    for (const { from, to, shares, regret, fallen } of stretches) {
      expect(Date.parse(from!)).toBeLessThanOrEqual(Date.parse(to!));
      expect(sum(Object.values(shares!))).toBeCloseTo(1, 9);
      for (const { mean, lo, hi } of [regret!, fallen!] as {
        mean: number;
        lo: number;
        hi: number;
      }[]) {
        expect(mean).toBeGreaterThanOrEqual(lo);
        expect(mean).toBeLessThanOrEqual(hi);
      }
    }
    expect((await get("/v1/learning?hours=0")).status).toBe(400);
  });

  it("show the trade-off from quality to the cheapest model", async () => {
    const { post, get } = gateway();
    await post("/v1/chat/completions", chat("hi"));
    const { json } = await get("/v1/tradeoff");
    // At 5, a quarter of the quality is given up to save the highest price. `lambda` is the former name.
    const middle = json.points.find(({ tradeoff }: { tradeoff: number }) => tradeoff === 5);
    expect([middle.cost_weight, middle.lambda]).toEqual([0.25, 0.25]);
    const points = json.points as { shares: object; cost: number; quality: { mean: number } }[];
    for (const { shares } of points) {
      const sum = Object.values<number>(shares as Record<string, number>).reduce(
        (a, b) => a + b,
        0,
      );
      expect(sum).toBeCloseTo(1, 8);
    }
    for (let i = 1; i < points.length; i++) {
      expect(points[i]!.cost).toBeLessThanOrEqual(points[i - 1]!.cost * (1 + 1e-9));
      expect(points[i]!.quality.mean).toBeLessThanOrEqual(points[i - 1]!.quality.mean + 1e-9);
    }
  });
});

describe("events", () => {
  it("have names in snake_case, and the names of version 0.1 beside them", async () => {
    const { post, url } = gateway();
    const client = new JoustClient({ baseUrl: url });
    const stop = new AbortController();
    const answer = (async () => {
      for await (const { type, data } of client.events({
        signal: stop.signal,
        onOpen: () => void post("/v1/chat/completions", chat("hi")),
      })) {
        if (type === "answer" && data.model !== undefined) return data;
      }
      throw new Error("the stream ended");
    })();
    const { inputTokens, outputTokens, latencyMs, firstByteMs, ...data } = await answer;
    stop.abort();
    expect(data).toMatchObject({ status: "ok", input_tokens: expect.any(Number) });
    expect([inputTokens, outputTokens]).toEqual([data.input_tokens, data.output_tokens]);
    expect([latencyMs, firstByteMs]).toEqual([data.latency_ms, data.first_byte_ms]);
  });

  it("report decisions, answers, votes and posteriors as they happen", async () => {
    const { post, url } = gateway();
    const stop = new AbortController();
    const response = await fetch(`${url}/v1/events`, { signal: stop.signal });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const seen: string[] = [];
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const piece of response.body!) seen.push(decoder.decode(piece, { stream: true }));
    })().catch(() => {});
    const text = () => seen.join("");
    /** Versions of the router's posterior, in the order in which the stream reported them. */
    const versions = () =>
      [...text().matchAll(/event: posterior\ndata: \{"router":"auto","version":(\d+)\}/g)].map(
        ([, version]) => Number(version),
      );
    await expect.poll(() => versions().length).toBeGreaterThan(0);
    const vote = async () => {
      const { json } = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
      const known = versions().length;
      await post("/v1/feedback", { id: json.id, winner: "tie" });
      await expect.poll(() => versions().length).toBeGreaterThan(known);
      return json;
    };
    await vote();
    const json = await vote();
    await expect.poll(text).toContain("event: vote");
    // The first one is the version at the start of the stream; the others are reported when they change.
    const [, ...changed] = versions();
    expect(changed).toEqual([...new Set(changed)].toSorted((a, b) => a - b));
    const reported = text()
      .split("\n\n")
      .filter((event) => event.includes(json.joust.decision_id));
    const types = reported.map((event) => /event: (\w+)/.exec(event)![1]);
    expect(types).toEqual(["decision", "answer", "answer", "vote"]);
    // Events do not reveal the models of a duel before the vote.
    for (const event of reported.slice(0, 3)) expect(event).not.toMatch(/"models?":/);
    stop.abort();
    await reading;
  });
});
