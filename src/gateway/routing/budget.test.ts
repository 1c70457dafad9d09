import { expect, it } from "vitest";
import { chat, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";

/** A router that prefers the cheap model, with a budget between the costs of its two models. */
async function startRouter(settings = "") {
  const host = await startFaultyUpstream();
  const gateway = await startGateway(
    `providers: {p: {url: "${host.url("well")}"}}
models:
  big: {provider: p, price: {input: 100, output: 100}}
  small: {provider: p, price: {input: 0.01, output: 0.01}}
routers: {auto: {explore: 0, budget: 0.001, session_margin: 1, cost_quality_tradeoff: 5${settings}}}`,
  );
  const router = gateway.serving().routers.get("auto")!;
  // The price is above 0 if the budget was exceeded, and below 0 if money was saved.
  return { ...gateway, router, price: () => router.view.router.snapshot().serving!.pacer!.price };
}

it("charges the budget with the cheap model if the policy's choice is served", async () => {
  const { post, price } = await startRouter();
  expect((await post("/v1/route", chat("hi"))).json.model).toBe("small");
  expect(price()).toBeLessThan(0);
});

it("charges the budget with the model that a session keeps", async () => {
  const { post, price } = await startRouter();
  const session = { session_id: "s" };
  const first = chat("hi", { joust: { ...session, allowed_models: ["big"] } });
  expect((await post("/v1/chat/completions", first)).json.model).toBe("big");
  const before = price();
  const { json } = await post("/v1/route", chat("go on", { joust: session }));
  expect(json.model).toBe("big");
  expect(price()).toBeGreaterThan(before);
});

it("charges the budget with the guard's model while the guard is on", async () => {
  const { post, price, router } = await startRouter();
  router.guard = "big";
  expect((await post("/v1/route", chat("hi"))).json.model).toBe("big");
  expect(price()).toBeGreaterThan(0);
});

it("charges the budget with the policy's choice in mode observe", async () => {
  const { post, price } = await startRouter(", mode: observe, fallback: big");
  expect((await post("/v1/route", chat("hi"))).json.model).toBe("big");
  expect(price()).toBeLessThan(0);
});

it("does not charge the budget in mode bypass", async () => {
  const { post, price } = await startRouter(", mode: bypass, fallback: big");
  expect((await post("/v1/route", chat("hi"))).json.model).toBe("big");
  expect(price()).toBe(0);
});
