import { afterAll, expect, it } from "vitest";
import { chat, sharedGateway } from "../gateway.fixture.ts";
import { startMisbehaving } from "../providers/upstream/misbehaving.fixture.ts";

const LONG = "word ".repeat(120_000);

const host = await startMisbehaving();
afterAll(() => host.close());
const gateway = sharedGateway(
  () => `providers: {well: {url: "${host.url("well")}"}}
models: {a: {provider: well}, b: {provider: well}}`,
);

it.each([
  ["/v1/chat/completions", { model: "auto" }],
  ["/v1/chat/completions", { model: "a" }],
  ["/v1/completions", { model: "a", prompt: "x" }],
])("a large body reaches the model with all its bytes: %s %j", async (path, more) => {
  // White space, numbers and escapes that another writer of JSON would change.
  const odd = JSON.stringify(chat(LONG, more)).replace("{", '{ "x": [1.0, 1e2, "\\u0041"], ');
  const { status } = await gateway().post(path, odd);
  expect(status).toBe(200);
  const { body } = host.received.at(-1)!;
  const { model } = JSON.parse(body.toString());
  expect(body.toString()).toBe(odd.replace(`"model":"${more.model}"`, `"model":"${model}"`));
});

it("a large body gets two answers in a duel, and a decision without answers", async () => {
  const duel = chat(LONG, { joust: { duel: true } });
  const { status, json } = await gateway().post("/v1/chat/completions", duel);
  expect([status, json.choices.length]).toEqual([200, 2]);
  expect((await gateway().post("/v1/route", chat(LONG))).status).toBe(200);
});

it("a large body of another dialect is translated for an upstream that speaks chat completions", async () => {
  const request = { model: "auto", max_tokens: 5, messages: [{ role: "user", content: LONG }] };
  expect((await gateway().post("/v1/messages", request)).status).toBe(200);
  const { messages } = JSON.parse(host.received.at(-1)!.body.toString());
  expect(JSON.stringify(messages)).toContain(LONG);
});

it.each([
  ["half of it", JSON.stringify(chat(LONG)).slice(0, -5), "bad_json"],
  ["1,001 members", `{${'"a":1,'.repeat(100_000)}"model":"auto"}`, "bad_json"],
  ["messages that are text", JSON.stringify({ model: "auto", messages: LONG }), "invalid_value"],
])("a large body is refused with 400: %s", async (_, body, code) => {
  const { status, json } = await gateway().post("/v1/chat/completions", body);
  expect([status, json.error.code]).toEqual([400, code]);
});
