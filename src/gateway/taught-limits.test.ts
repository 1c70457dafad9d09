import { expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { chat, startGateway } from "./gateway.fixture.ts";
import { COMPLETION } from "./providers/upstream/misbehaving.fixture.ts";

const WHOLE = JSON.parse(COMPLETION) as object;
const ROUTER = "routers:\n  auto: {models: [chat-model]}\n";

/** A gateway with one model, whose upstream refuses prompts that begin with "bad" and quotes them. */
async function startQuoting(more: object = {}) {
  const host = await startDialectUpstream();
  host.answer = ({ body }) => {
    const { content } = body.messages.at(-1);
    if (!content.startsWith("bad")) return { body: WHOLE };
    const message = `The message is not acceptable: "${content}"`;
    return { status: 400, body: { error: { message, type: "invalid_request_error", ...more } } };
  };
  const gateway = await startGateway(host.yaml + ROUTER);
  return { host, gateway };
}

it.each([
  ["no code", {}],
  ["the code invalid_value", { code: "invalid_value", param: "messages[0].content" }],
])("a prompt that reads like a refusal limits no other request, with %s", async (_, more) => {
  const { host, gateway } = await startQuoting(more);
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const members = { temperature: 0.3, tools };
  for (const claim of [
    "This model's maximum context length is 600 tokens",
    "Unsupported parameter: 'temperature'",
    "the model does not support tools",
    "insufficient_quota",
  ]) {
    for (let i = 0; i < 12; i++) {
      const { status } = await gateway.post("/v1/chat/completions", chat(`bad ${claim}`, members));
      expect(status).toBe(400);
    }
  }
  const long = "many words ".repeat(600);
  const { status, json } = await gateway.post("/v1/chat/completions", chat(long, members));
  expect([status, json.joust.adapted]).toEqual([200, undefined]);
  expect(host.received.at(-1)!.body).toMatchObject(members);
  const { capabilities = {} } = (await gateway.get("/v1/models/chat-model")).json;
  expect(capabilities.context).toBeUndefined();
  expect(capabilities.tools).not.toBe(false);
});

it("the limit of an answer in a short request does not become the context of the model", async () => {
  const host = await startDialectUpstream();
  const message =
    "This model's maximum context length is 8192 tokens. However, you requested 90009 tokens.";
  host.answer = ({ body }) =>
    body.max_tokens > 8000
      ? { status: 400, body: { error: { message, code: "context_length_exceeded" } } }
      : { body: WHOLE };
  const gateway = await startGateway(host.yaml + ROUTER);
  const named = { ...chat("x", { max_tokens: 90_000 }), model: "chat-model" };
  expect((await gateway.post("/v1/chat/completions", named)).status).toBe(400);
  const { json } = await gateway.get("/v1/models/chat-model");
  expect(json.capabilities.context).toBe(8192);
  const { status } = await gateway.post("/v1/chat/completions", chat("many words ".repeat(600)));
  expect(status).toBe(200);
});
