import { expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { startGateway } from "./gateway.fixture.ts";

const KEY = "k".repeat(16);
const ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 5,
  model: "up",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** Each of these requests can cost more than the budget of one dollar. */
const EXPENSIVE = [
  { model: "chat-model", max_tokens: 900_000 },
  { model: "chat-model", n: 50 },
  { model: "auto", max_tokens: 900_000 },
  { model: "auto", n: 50 },
  { model: "auto", max_completion_tokens: 1, max_tokens: 900_000 },
];

it.each(EXPENSIVE)("%j reserves what its answers can cost", async (request) => {
  const host = await startDialectUpstream();
  const called = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  host.answer = async () => {
    called.resolve();
    await released.promise;
    return { body: ANSWER };
  };
  const gateway = await startGateway(
    `${host.yaml}routers: {auto: {models: [chat-model]}}\nkeys: {ann: {key: ${KEY}, budget: 1}}\n`,
  );
  const body = { ...request, messages: [{ role: "user", content: "Hi" }] };
  const send = () => gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${KEY}` });
  const first = send();
  await called.promise;
  const second = await send();
  expect([second.status, second.json.error.type]).toEqual([429, "insufficient_quota"]);
  released.resolve();
  expect((await first).status).toBe(200);
});
