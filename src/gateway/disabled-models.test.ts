import { expect, it } from "vitest";
import { chat, configOf, SANDBOX, startGateway } from "./gateway.fixture.ts";

const model = (more: object = {}) => ({ provider: "sandbox", ...more });
const yaml = (models: object, router: object = {}) =>
  JSON.stringify({ sandbox: { speed: 1000 }, models, routers: { auto: router } });

const TWO = { "pebble-mini": model(), "summit-pro": model({ enabled: false }) };

it("a disabled model answers nothing, stays known, and its votes still count", async () => {
  const both = { "pebble-mini": model(), "summit-pro": model() };
  const gateway = await startGateway(SANDBOX, { managed: { by: "store" } });
  const change = (basedOn: number, models: Readonly<Record<string, object>>) =>
    gateway.post("/v1/admin/configuration", {
      based_on: basedOn,
      changes: Object.entries(models).map(([name, value]) => ({ section: "models", name, value })),
    });
  await change(0, both);
  const duel = await gateway.post(
    "/v1/chat/completions",
    chat("1 + 1?", { joust: { duel: true } }),
  );
  const { id } = duel.json;

  const { "summit-pro": off } = TWO;
  expect((await change(1, { "summit-pro": off })).json.revision).toBe(2);
  const { data } = (await gateway.get("/v1/models")).json;
  expect(data.find((one: { id: string }) => one.id === "summit-pro")).toMatchObject({
    disabled: true,
  });
  expect(data.find((one: { id: string }) => one.id === "auto").models).toEqual(["pebble-mini"]);

  const named = await gateway.post("/v1/chat/completions", chat("hi", { model: "summit-pro" }));
  expect([named.status, named.json.error.code]).toEqual([404, "model_disabled"]);
  const again = await gateway.post(
    "/v1/chat/completions",
    chat("2 + 2?", { joust: { duel: true } }),
  );
  expect(again.json.choices).toHaveLength(1);
  const { json } = await gateway.get(`/v1/decisions/${again.json.joust.decision_id}`);
  expect(json.excluded).toEqual({ "summit-pro": "is disabled" });

  // The earlier duel has an answer of the disabled model, and a vote on it is learned.
  expect((await gateway.post("/v1/feedback", { id, winner: 0 })).status).toBe(200);
  const wins = async () => {
    const { leaderboard } = (await gateway.get("/v1/stats")).json;
    return leaderboard.overall.map(({ value }: { value: number }) => value);
  };
  await expect.poll(wins).not.toEqual([0, 0]);
  const audit = (await gateway.get("/v1/admin/audit")).json.data;
  expect(audit[0]).toMatchObject({
    target: "models.summit-pro",
    before: { "models.summit-pro": both["summit-pro"] },
    after: { "models.summit-pro": off },
  });
  expect((await change(2, both)).json.revision).toBe(3);
  expect(
    (await gateway.post("/v1/chat/completions", chat("hi", { model: "summit-pro" }))).status,
  ).toBe(200);
});

it.each([
  [{ only: model({ enabled: false }) }, {}, "routers.auto.models"],
  [TWO, { mode: "bypass", fallback: "summit-pro" }, "routers.auto.fallback"],
  [TWO, { judge: { model: "summit-pro" } }, "routers.auto.judge.model"],
])("refuses a router that needs a disabled model: %j %j", (models, router, field) => {
  expect(() => configOf(yaml(models, router))).toThrow(expect.objectContaining({ field }));
});
