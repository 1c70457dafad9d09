import { expect, it } from "vitest";
import { chat, SANDBOX, startGateway } from "../gateway.fixture.ts";

const QUESTIONS = ["Prove that 2 + 2 = 4.", "Write a poem.", "Fix this loop.", "Who was Caesar?"];

async function start(requests: number) {
  const gateway = await startGateway(SANDBOX, { managed: { by: "store" } });
  for (let n = 0; n < requests; n++) {
    await gateway.post("/v1/chat/completions", chat(QUESTIONS[n % QUESTIONS.length]!));
  }
  const preview = async (value: object | null, name = "auto") => {
    const changes = [{ section: "routers", name, value }];
    return gateway.post("/v1/admin/configuration/preview", { changes });
  };
  return { gateway, preview };
}

it("decides last week's requests again, with the settings before and after", async () => {
  const { gateway, preview } = await start(12);
  const fixed = { mode: "bypass", fallback: "summit-pro" };
  const changes = [{ section: "routers", name: "auto", value: fixed }];
  await gateway.post("/v1/admin/configuration", { based_on: 0, changes });
  const { json } = await preview({ cost_quality_tradeoff: 10 });
  const [{ requests, before, after, quality, notes }] = json.routers;
  expect([requests, notes, before.shares]).toEqual([12, [], { "summit-pro": 1 }]);
  for (const { shares } of [before, after]) {
    const sum = Object.values(shares as Record<string, number>).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(1, 9);
  }
  expect(after.cost).toBeLessThan(before.cost);
  expect(quality.lo).toBeLessThanOrEqual(quality.mean);
  expect((await gateway.get("/v1/admin/configuration")).json.revision).toBe(1);
});

it("answers with the fallback in the mode bypass, and within the pool otherwise", async () => {
  const { preview } = await start(4);
  const bypass = (await preview({ mode: "bypass", fallback: "pebble-mini" })).json.routers[0];
  expect(bypass.after.shares).toEqual({ "pebble-mini": 1 });
  const pool = (await preview({ models: ["abacus-14b"] })).json.routers[0];
  expect(pool.after).toMatchObject({ shares: { "abacus-14b": 1 }, unanswered: 0 });
});

it("says what it cannot predict", async () => {
  const { preview } = await start(0);
  const value = { budget: 0.01, duels: { mode: "auto" }, guard: false };
  const [{ before, notes }] = (await preview(value)).json.routers;
  expect(before).toBeNull();
  expect(notes.join(" ")).toMatch(/no request.*second answer.*budget.*guard/);
  const added = await preview({}, "second");
  expect(added.json.routers).toEqual([]);
});

it("warns that requests to a removed router would fail", async () => {
  const { gateway, preview } = await start(0);
  const changes = [{ section: "routers", name: "second", value: {} }];
  await gateway.post("/v1/admin/configuration", { based_on: 0, changes });
  const [{ router, notes }] = (await preview(null, "second")).json.routers;
  expect([router, notes[0]]).toEqual(["second", expect.stringContaining("get an error")]);
});

it("refuses an invalid change", async () => {
  const { preview } = await start(0);
  const { status, json } = await preview({ mode: "observe" });
  expect([status, json.error.message]).toEqual([400, expect.stringContaining("routers.auto.mode")]);
});
