import { expect, it } from "vitest";
import { chat, startGateway } from "../gateway.fixture.ts";

it("a dashboard gets a forecast of the posterior, which is computed in the background", async () => {
  const { post, get, serving } = await startGateway(
    "sandbox: {speed: 1000}\nrouters: {auto: {models: [abacus-14b, summit-pro]}}",
  );
  expect((await get("/v1/stats")).json.forecast).toBeNull();
  for (let i = 0; i < 24; i++) {
    const answer = await post("/v1/chat/completions", chat(`Why ${i}?`, { joust: { duel: true } }));
    await post("/v1/feedback", { id: answer.json.id, winner: i % 2 });
  }
  // The log has the configuration and 24 votes.
  const learned = () => serving().routers.get("auto")!.view.version;
  await expect.poll(learned).toBe(25);
  const read = async () => (await get("/v1/stats")).json.forecast;
  await expect.poll(read, { interval: 500 }).toMatchObject({
    version: 25,
    learned: 24,
    horizon: 2000,
    verdict: expect.stringMatching(/^(now|later|never)$/),
  });
});
