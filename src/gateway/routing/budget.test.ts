import { expect, it } from "vitest";
import { chat, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";

/** A router that prefers the cheap model, with a budget between the costs of its two models. */
async function startRouter(settings = "", more = "") {
  const host = await startFaultyUpstream();
  const gateway = await startGateway(
    `providers: {p: {url: "${host.url("well")}"}}
models:
  big: {provider: p, price: {input: 100, output: 100}}
  small: {provider: p, price: {input: 0.01, output: 0.01}}
routers: {auto: {explore: 0, budget: 0.001, session_margin: 1, cost_quality_tradeoff: 5${settings}}}
${more}`,
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

it("does not charge the budget for a request that is refused after its decision", async () => {
  const { post, price } = await startRouter(
    "",
    "keys: {ann: {key: ann-ann-ann-ann-ann, budget: 1.0e-9}, bob: {key: bob-bob-bob-bob-bob}}",
  );
  const ask = (key: string, more: object = {}) =>
    post("/v1/chat/completions", chat("hi", more), { authorization: `Bearer ${key}` });
  const named = { joust: { id: "mine" } };
  expect((await ask("bob-bob-bob-bob-bob", named)).status).toBe(200);
  // The first request may exceed the budget of its key.
  expect((await ask("ann-ann-ann-ann-ann")).status).toBe(200);
  const before = price();
  expect(before).not.toBe(0);
  expect((await ask("ann-ann-ann-ann-ann")).status).toBe(429);
  expect((await ask("bob-bob-bob-bob-bob", named)).status).toBe(409);
  expect(price()).toBe(before);
});
