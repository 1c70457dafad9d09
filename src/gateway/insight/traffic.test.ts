import { expect, it } from "vitest";
import type { Decision } from "../../store/decision.ts";
import { SANDBOX, startGateway } from "../gateway.fixture.ts";
import { trafficOf } from "./traffic.ts";

it("leaves out embeddings of another encoder, which may have the same dimension", async () => {
  const { get, serving, store } = await startGateway(SANDBOX);
  const { view } = serving().routers.get("auto")!;
  const decisionBy = (encoder: string): Decision => ({
    kind: "routed",
    router: "auto",
    at: Date.now(),
    id: `by ${encoder}`,
    mode: "apply",
    encoder,
    x: new Float64Array(view.pool.centroids[0]!.length).fill(0.125),
    candidates: ["summit-pro"],
    pair: ["summit-pro", "summit-pro"],
    propensity: 1,
    seed: 1,
    version: 0,
    lambda: 1,
  });
  const decisions = [decisionBy(view.encoder), decisionBy("another")];
  expect(trafficOf(view, decisions)).toHaveLength(1);
  await store.record(decisions);
  const { points } = (await get("/v1/map")).json;
  expect(points.map(({ id }: Decision) => id)).toEqual([decisions[0]!.id]);
});
