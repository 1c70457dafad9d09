import { describe, expect, it } from "vitest";
import { chat, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";
import { healthOf } from "./health.ts";

const calls = (answers: number, failures: number, fallbacks = 0) => ({
  answers,
  failures,
  fallbacks,
});

it.each([
  [undefined, "closed", "unknown"],
  [calls(0, 0), "closed", "unknown"],
  [undefined, "open", "down"],
  [calls(100, 0), "closed", "ok"],
  [calls(100, 4), "closed", "ok"],
  [calls(100, 5), "closed", "degraded"],
  [calls(95, 0, 5), "closed", "degraded"],
  [calls(0, 0, 3), "closed", "down"],
  [calls(10, 10), "closed", "down"],
  [calls(10, 0), "half-open", "degraded"],
  [calls(10, 0), "open", "down"],
] as const)("calls %j and the breaker %s give the health %s", (recent, breaker, health) => {
  expect(healthOf(recent, breaker)).toBe(health);
});

describe("with every provider failing", () => {
  it("no model is healthy, no model has a share, and there is no win rate", async () => {
    const host = await startFaultyUpstream();
    const { post, get } = await startGateway(`
providers: {p: {url: "${host.url("error500")}"}}
models: {a: {provider: p, retries: 0}, b: {provider: p, retries: 0}}
routers: {auto: {explore: 0}}`);
    const before = (await get("/v1/stats")).json;
    for (const { health, share } of before.models) {
      expect([health, share]).toEqual(["unknown", null]);
    }
    for (let i = 0; i < 3; i++) {
      expect((await post("/v1/chat/completions", chat(`hi ${i}`))).status).toBeGreaterThan(499);
    }
    const { json } = await get("/v1/stats");
    for (const { model, health, share, given, calls: all, failures } of json.models) {
      expect({ model, health, share, given }).toEqual({
        model,
        health: "down",
        share: null,
        given: 0,
      });
      expect(failures).toBe(all);
      expect(all).toBeGreaterThan(0);
    }
    expect([json.win_rate, json.regret, json.quality]).toEqual([null, null, null]);
    expect(Object.values(json.series[0].given)).toEqual([0, 0]);
    expect((await get("/v1/learning")).json.stretches).toEqual([]);
  });
});
