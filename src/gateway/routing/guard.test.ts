import { describe, expect, it } from "vitest";
import type { LogEvaluation } from "../../learner/evaluate.ts";
import { chat, configOf, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";
import { newLogger } from "../telemetry/logger.ts";
import { Guard } from "./guard.ts";
import { guardModel } from "./guard-rule.ts";

const interval = (lo: number, hi: number) => ({ mean: (lo + hi) / 2, lo, hi });
const NOTHING = interval(-1, 1);

function evaluation(
  gains: Record<string, [number, number]>,
  costs: readonly (number | undefined)[],
  votes = 1000,
  explored = 20,
): LogEvaluation {
  const targets = [["routing", [0, 0]] as const, ...Object.entries(gains)];
  return {
    decisions: 5000,
    duels: 2000,
    votes,
    explored,
    costs,
    targets: targets.map(([name, [lo, hi]]) => ({
      name: name === "routing" ? name : `always ${name}`,
      ips: NOTHING,
      snips: NOTHING,
      dr: NOTHING,
      gain: interval(lo, hi),
    })),
  };
}

describe("the guard's rule", () => {
  it("needs an interval above 0 and takes the best model", () => {
    expect(guardModel(evaluation({ a: [-0.1, 0.2] }, [1, 1]))).toBeUndefined();
    expect(guardModel(evaluation({ a: [0.01, 0.1], b: [0.02, 0.2] }, [1, 1, 1]))).toBe("b");
  });

  it("ignores models that cost more, because routing trades quality for cost on purpose", () => {
    expect(guardModel(evaluation({ a: [0.1, 0.2] }, [1, 5]))).toBeUndefined();
    expect(guardModel(evaluation({ a: [0.1, 0.2] }, [1, 0.9]))).toBe("a");
    expect(guardModel(evaluation({ a: [0.1, 0.2] }, [undefined, undefined]))).toBe("a");
  });

  it("decides nothing with few votes", () => {
    expect(guardModel(evaluation({ a: [0.1, 0.2] }, [1, 1], 50))).toBeUndefined();
    expect(guardModel(evaluation({ a: [0.1, 0.2] }, [1, 1], 1000, 10))).toBeUndefined();
  });
});

it("serves its model while it is on, with the reason, and tries routing now and then", async () => {
  const host = await startFaultyUpstream();
  const { post, serving, folder } = await startGateway(
    `providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}, c: {provider: p}}
routers: {auto: {explore: 0.5}}`,
  );
  const router = serving().routers.get("auto")!;
  router.guard = "b";
  const seen = new Map<string, number>();
  // The guard's model serves 2/3 of 200 requests on average, with a standard deviation of 7.
  for (let i = 0; i < 200; i++) {
    const { json } = await post("/v1/route", chat(`hi ${i}`));
    seen.set(json.model, (seen.get(json.model) ?? 0) + 1);
    expect(json.guard).toBe("b");
    expect(json.reasons.join()).toContain("the guard is on");
    if (json.model === "b") expect(json.propensity).toBeGreaterThan(0.5);
  }
  expect(seen.get("b")).toBeGreaterThan(100);
  expect(seen.size).toBeGreaterThan(1);

  // The log has no evidence against routing.
  const store = { file: `${folder}/joust.db` };
  const guard = new Guard(serving, { folder, store }, newLogger("silent"), 1e8);
  await guard.check();
  expect(router.guard).toBeUndefined();
  await guard.stop();
});

it("serves the policy's choices again as soon as the configuration turns it off", async () => {
  const host = await startFaultyUpstream();
  const yaml = (guard: boolean) => `providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}}
routers: {auto: {guard: ${guard}}}`;
  const { serving, reload } = await startGateway(yaml(true));
  const router = serving().routers.get("auto")!;
  router.guard = "b";
  expect(router.view.guard).toBe("b");
  await reload(configOf(yaml(false)));
  expect([router.guard, router.view.guard]).toEqual([undefined, undefined]);
});

it("checks no other router after it was stopped", async () => {
  const checked: string[] = [];
  const routers = ["first", "second"].map((name) => ({
    name,
    config: { guard: true },
    get view() {
      checked.push(name);
      return { version: 1 };
    },
  }));
  const serving = { routers: new Map(routers.map((router) => [router.name, router])) };
  const place = { folder: "", store: { file: "/nonexistent/joust.db" } };
  const guard = new Guard(() => serving as never, place, newLogger("silent"), 1e8);
  const checking = guard.check();
  await guard.stop();
  await checking;
  expect(checked).toEqual(["first"]);
});
