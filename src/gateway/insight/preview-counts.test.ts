import { expect, it } from "vitest";
import type { Decision } from "../../store/decision.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import { SANDBOX, startGateway } from "../gateway.fixture.ts";

const POOL = ["pebble-mini", "forge-coder", "abacus-14b", "quill-32b", "summit-pro"];

it("counts what a log with known costs and candidates would have given", async () => {
  const gateway = await startGateway(SANDBOX, { managed: { by: "store" } });
  const { view } = gateway.serving().routers.get("auto")!;
  const now = Date.now();
  let n = 0;
  const decision = (over: Partial<Decision>): Decision => ({
    kind: "routed",
    router: "auto",
    at: now - DAY_MS,
    id: `known-${n++}`,
    mode: "apply",
    encoder: view.encoder,
    x: new Float64Array(view.pool.centroids[0]!.length).fill(0.125),
    candidates: POOL,
    pair: ["summit-pro", "summit-pro"],
    propensity: 1,
    seed: 1,
    version: 0,
    costs: [0.001, 0.002, 0.003, 0.004, 0.005],
    lambda: 1,
    ...over,
  });
  await gateway.store.record([
    // Three requests count. The cheapest models cost 1, 2 and 2 thousandths of a dollar, summit-pro 5, 9 and 7.
    decision({}),
    decision({ costs: [0.004, 0.002, 0.003, 0.004, 0.009] }),
    decision({ candidates: ["quill-32b", "summit-pro"], costs: [0.002, 0.007] }),
    // Three cannot be decided again: another encoder, a model that is gone, a row that was restored from a token.
    decision({ encoder: "another" }),
    decision({ pair: ["gone", "gone"], candidates: ["gone", ...POOL], costs: [0, 1, 1, 1, 1, 1] }),
    decision({ sample: 0 }),
    // Two are not looked at: they are older than a week, or of another router.
    decision({ at: now - 8 * DAY_MS }),
    decision({ router: "another" }),
  ]);
  const fixed = { mode: "bypass", fallback: "summit-pro" };
  await gateway.post("/v1/admin/configuration", {
    based_on: 0,
    changes: [{ section: "routers", name: "auto", value: fixed }],
  });
  const preview = async (value: object) => {
    const changes = [{ section: "routers", name: "auto", value }];
    return (await gateway.post("/v1/admin/configuration/preview", { changes })).json.routers[0];
  };
  const cheapest = await preview({ cost_quality_tradeoff: 10 });
  expect(cheapest).toMatchObject({ requests: 3, left_out: 3 });
  expect(cheapest.before).toEqual({
    shares: { "summit-pro": expect.closeTo(1, 9) },
    cost: expect.closeTo(0.007, 9),
    unanswered: 0,
  });
  expect(cheapest.after).toEqual({
    shares: {
      "pebble-mini": expect.closeTo(1 / 3, 9),
      "forge-coder": expect.closeTo(1 / 3, 9),
      "quill-32b": expect.closeTo(1 / 3, 9),
    },
    cost: expect.closeTo(0.005 / 3, 9),
    unanswered: 0,
  });
  // The third request has no candidate in this pool; the others have exactly one.
  const small = await preview({ models: ["abacus-14b"], cost_quality_tradeoff: 10 });
  expect(small.after).toEqual({
    shares: { "abacus-14b": expect.closeTo(1, 9) },
    cost: expect.closeTo(0.003, 9),
    unanswered: 1,
  });
});
