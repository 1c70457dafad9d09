import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

const PATHS = { chat: "chat/completions", responses: "responses", messages: "messages" } as const;
const DIALECTS = Object.keys(PATHS) as DialectName[];

async function startAll() {
  const host = await startDialectUpstream();
  const gateway = await startGateway(`${host.yaml}routers: {auto: {}}\nstore: {prompts: true}\n`);
  return { host, gateway };
}

const usage = { input_tokens: 1, output_tokens: 1 };
const ANSWERS: Readonly<Record<DialectName, object>> = {
  chat: {
    id: "1",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  },
  responses: { id: "1", object: "response", status: "completed", output: [], usage },
  messages: {
    id: "1",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: "end_turn",
    usage,
  },
};

const listOf = (dialect: DialectName) => (dialect === "responses" ? "input" : "messages");

describe.each(DIALECTS)("a request of %s", (dialect) => {
  const models = ["auto", ...DIALECTS.map((name) => `${name}-model`)];

  it("with a number that is too large is refused, and the error names it", async () => {
    const { host, gateway } = await startAll();
    for (const model of models) {
      for (const number of ["1e999", "-1e999"]) {
        const list = `"${listOf(dialect)}":[{"role":"user","content":"x"}]`;
        const response = await fetch(`${gateway.url}/v1/${PATHS[dialect]}`, {
          method: "POST",
          body: `{"model":"${model}",${list},"max_tokens":9,"temperature":${number}}`,
        });
        expect(response.status).toBe(400);
        expect(await response.text()).toContain("temperature: is too large for a number");
      }
    }
    expect(host.received).toHaveLength(0);
  });

  it("with a nested number that is too large passes unchanged, or is refused with its name", async () => {
    const { host, gateway } = await startAll();
    host.answer = (_, name) => ({ body: ANSWERS[name] });
    const list = `"${listOf(dialect)}":[{"role":"user","content":"x"}]`;
    const tool = '{"type":"object","properties":{"a":{"maximum":1e999}}}';
    const tools = {
      chat: `[{"type":"function","function":{"name":"f","parameters":${tool}}}]`,
      responses: `[{"type":"function","name":"f","parameters":${tool}}]`,
      messages: `[{"name":"f","input_schema":${tool}}]`,
    }[dialect];
    for (const name of DIALECTS) {
      host.received.length = 0;
      const response = await fetch(`${gateway.url}/v1/${PATHS[dialect]}`, {
        method: "POST",
        body: `{"model":"${name}-model",${list},"max_tokens":9,"tools":${tools}}`,
      });
      const text = await response.text();
      if (response.status === 400) {
        const path = {
          chat: "function.parameters",
          responses: "parameters",
          messages: "input_schema",
        };
        const param = `tools[0].${path[dialect]}.properties.a.maximum`;
        expect(JSON.parse(text).error).toMatchObject({
          message: expect.stringContaining(`${param} is too large for a number`),
        });
        expect(host.received).toHaveLength(0);
        expect(name).not.toBe(dialect);
      } else {
        expect([name, response.status]).toEqual([dialect, 200]);
        const [{ parameters, input_schema } = {}] = host.received.map(
          ({ body: { tools: sent } }) => sent[0].function ?? sent[0],
        );
        expect((parameters ?? input_schema).properties.a.maximum).toBe(Number.POSITIVE_INFINITY);
      }
    }
  });

  it("with a content that is neither text nor a list is refused, and the error names it", async () => {
    const { host, gateway } = await startAll();
    for (const model of models.filter((name) => name !== `${dialect}-model`)) {
      const messages = [
        { role: "user", content: "x" },
        { role: "user", content: 5 },
      ];
      const body = { model, max_tokens: 9, [listOf(dialect)]: messages };
      const { status, text } = await gateway.post(`/v1/${PATHS[dialect]}`, body);
      expect([model, status]).toEqual([model, 400]);
      expect(text).toContain(`${listOf(dialect)}[1].content`);
    }
    expect(host.received).toHaveLength(0);
  });
});

it("the result of a tool, or a system prompt, that is neither text nor a list is refused", async () => {
  const { host, gateway } = await startAll();
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: { a: 1 } };
  const use = { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: 5 }] };
  const messages = [{ role: "user", content: "x" }, use, result];
  for (const [path, body, param] of [
    ["responses", { input: [call, output] }, "input[1].output"],
    ["messages", { messages }, "messages[2].content[0].content"],
    ["messages", { messages: [messages[0]], system: { text: "x" } }, "system"],
  ] as const) {
    const request = { model: "chat-model", max_tokens: 9, ...body };
    const { status, json } = await gateway.post(`/v1/${path}`, request);
    expect([path, status]).toEqual([path, 400]);
    expect(json.error.message).toContain(`${param} is neither text nor a list`);
  }
  expect(host.received).toHaveLength(0);
});

it("arguments of a call that are nested too deeply for an object are sent as a text", async () => {
  const { host, gateway } = await startAll();
  host.answer = () => ({ body: ANSWERS.messages });
  const deep = `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
  const call = { id: "c", type: "function", function: { name: "f", arguments: deep } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: "y" },
  ];
  const request = { model: "messages-model", messages };
  const { status } = await gateway.post("/v1/chat/completions", request);
  expect(status).toBe(200);
  expect(host.received[0]!.body.messages[1].content[0].input).toEqual({ input: deep });
});

it("compaction of a conversation is refused as not supported", async () => {
  const { gateway } = await startAll();
  const response = await fetch(`${gateway.url}/v1/responses/compact`, { method: "POST" });
  const { error } = (await response.json()) as { error: { code: string; hint: string } };
  expect([response.status, error.code]).toEqual([400, "not_supported"]);
  expect(error.hint).toContain("send the conversation itself");
});

it("a body of other endpoints with a number that is too large is refused, and the error names it", async () => {
  const { gateway } = await startAll();
  for (const [path, body, param] of [
    ["/v1/feedback", '{"id":"x","metric":"m","value":1e999}', "value"],
    ["/v1/admin/keys", '{"name":"n","models":["a",1e999]}', "models[1]"],
    [
      "/v1/responses",
      '{"model":"auto","input":[{"role":"user","content":"x","n":{"a":1e999}}]}',
      "input[0].n.a",
    ],
  ]) {
    const response = await fetch(`${gateway.url}${path}`, { method: "POST", body: body! });
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect([path, response.status, error.param]).toEqual([path, 400, param]);
    expect(error.message).toContain("is too large for a number");
  }
});
