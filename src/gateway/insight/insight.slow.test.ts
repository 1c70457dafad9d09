import { expect, it } from "vitest";
import { SANDBOX, sharedGateway } from "../gateway.fixture.ts";

/** Two models of the sandbox that differ much: 42% and 85% of their answers are right. */
const [WORSE, BETTER] = ["pebble-mini", "summit-pro"];
const VOTES = 400;
const gateway = sharedGateway(
  () => `${SANDBOX}\nrouters: {auto: {models: [${WORSE}, ${BETTER}], explore: 0}}`,
);

it("moves the leaderboard to the truth by the votes of simulated voters", async () => {
  const { post, get } = gateway();
  const leader = async () => (await get("/v1/stats")).json.leaderboard.overall[0];
  expect(await leader()).toMatchObject({ value: 0 });
  await post("/v1/sandbox/voters", { on: true, votes_per_minute: 6000 });
  const cast = async () => (await get("/v1/sandbox/voters")).json.cast;
  await expect.poll(cast).toBeGreaterThanOrEqual(VOTES);
  await post("/v1/sandbox/voters", { on: false });
  const { model, value, best } = await leader();
  expect(model).toBe(BETTER);
  expect(value).toBeGreaterThan(0);
  expect(best).toBeGreaterThan(0.5);
});
