import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, sharedGateway, startGateway } from "./gateway.fixture.ts";

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 20 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 107,
};
const response = (output: object[], more: object = {}) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  error: null,
  model: "up-1",
  output,
  store: false,
  usage: USAGE,
  ...more,
});
const TEXT = {
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
};
const streamOf = (output: object[]) => [
  { type: "response.created", response: response([], { status: "in_progress", usage: null }) },
  { type: "response.in_progress", response: response([], { status: "in_progress", usage: null }) },
  ...output.flatMap((item, output_index) => [
    { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
    { type: "response.output_item.done", output_index, item },
  ]),
  { type: "response.completed", response: response(output) },
];
const ask = (input: unknown, more: object = {}) => ({ model: "auto", input, ...more });

describe("an upstream that speaks Responses", () => {
  const only = (yaml: string) => `${yaml}routers: {auto: {models: [responses-model]}}\n`;

  it("gets the client's members, stores nothing, and the client gets labels", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: response([TEXT], { future: 1 }) });
    const gateway = await startGateway(only(host.yaml));
    const body = ask([{ role: "user", content: "Hi" }], {
      tools: [{ type: "web_search" }],
      future: { member: 1 },
    });
    const { status, json } = await gateway.post("/v1/responses", body);
    expect(status).toBe(200);
    expect(host.received[0]).toMatchObject({
      path: "/responses/v1/responses",
      body: {
        ...body,
        model: "up-responses",
        store: false,
        include: ["reasoning.encrypted_content"],
      },
    });
    expect(json).toMatchObject({
      id: `resp_${json.joust.decision_id}`,
      model: "responses-model",
      output: [TEXT],
      future: 1,
      store: false,
      joust: { router: "auto", model: "responses-model", vote_token: expect.any(String) },
    });
    expect(json.joust.cost).toBeCloseTo(114e-6, 12);
  });

  it("streams its own events, with labels in all that hold the response", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: streamOf([TEXT]) });
    const gateway = await startGateway(only(host.yaml));
    const { text } = await gateway.post("/v1/responses", ask("Hi", { stream: true }));
    const events = eventsOf(text);
    expect(events.map(({ type }) => type)).toEqual(
      streamOf([TEXT]).map((event) => (event as { type: string }).type),
    );
    const held = events.filter((event) => event.response);
    expect(new Set(held.map((event) => event.response.id)).size).toBe(1);
    for (const event of held) {
      expect(event.response).toMatchObject({ model: "responses-model", joust: { router: "auto" } });
    }
    expect(held.at(-1).response.joust.cost).toBeCloseTo(114e-6, 12);
  });

  it("gets hosted tools and background mode; without such an upstream the request is refused", async () => {
    const host = await startDialectUpstream();
    host.answer = (_, dialect) =>
      dialect === "responses" ? { body: response([TEXT]) } : { status: 500, body: {} };
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {}, others: {models: [chat-model, messages-model]}}\n`,
    );
    const hosted = { tools: [{ type: "web_search" }] };
    for (let i = 0; i < 5; i++) {
      const { json } = await gateway.post("/v1/responses", ask("Hi", hosted));
      expect(json.joust).toMatchObject({ model: "responses-model" });
      expect(json.joust).not.toHaveProperty("fallbacks");
    }
    const refused = await gateway.post("/v1/responses", ask("Hi", { model: "others", ...hosted }));
    expect([refused.status, refused.json.error.code]).toEqual([400, "no_capable_model"]);
    expect(refused.json.error.message).toContain("does not speak responses");
    const named = await gateway.post(
      "/v1/responses",
      ask("Hi", { model: "chat-model", background: true }),
    );
    expect([named.status, named.json.error.code]).toEqual([400, "unsupported_by_upstream"]);
    expect(named.json.error.message).toContain("background needs a provider that speaks");
  });

  it("is not needed for hosted tools and namespaces in addition to functions", async () => {
    const host = await startDialectUpstream();
    const parameters = { type: "object", properties: {} };
    const call = { id: "call_1", type: "function", function: { name: "spawn", arguments: "{}" } };
    host.answer = () => ({
      body: {
        id: "chatcmpl-1",
        model: "m",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: null, tool_calls: [call] },
            finish_reason: "tool_calls",
          },
        ],
      },
    });
    const gateway = await startGateway(`${host.yaml}routers: {auto: {models: [chat-model]}}\n`);
    const tools = [
      { type: "function", name: "shell", parameters, strict: false },
      {
        type: "namespace",
        name: "agents",
        tools: [{ type: "function", name: "spawn", parameters }],
      },
      { type: "web_search" },
    ];
    const { json } = await gateway.post("/v1/responses", ask("Hi", { tools }));
    const sent = host.received[0]!.body.tools;
    expect(sent.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      "shell",
      "spawn",
    ]);
    expect(json.output).toMatchObject([
      { type: "function_call", name: "spawn", namespace: "agents", call_id: "call_1" },
    ]);
    expect(json.joust.adapted).toEqual([{ param: "tools.web_search", change: "dropped" }]);
    const strict = { tools, joust: { strict: true } };
    expect((await gateway.post("/v1/responses", ask("Hi", strict))).status).toBe(400);
    const forced = { tools, tool_choice: { type: "web_search" } };
    expect((await gateway.post("/v1/responses", ask("Hi", forced))).status).toBe(400);
  });

  it("that fails inside a stream ends it with both events of an error", async () => {
    const host = await startDialectUpstream();
    const error = { type: "server_error", code: null, message: "overloaded" };
    const begun = streamOf([TEXT]).slice(0, 3);
    const numbered = begun.map((event, sequence_number) => ({ ...event, sequence_number }));
    const gateway = await startGateway(only(host.yaml));
    for (const [code, reply] of [
      ["upstream_unreachable", { body: numbered, breaks: true }],
      ["upstream_refused", { body: [...numbered, { type: "error", error }] }],
    ] as const) {
      host.answer = () => reply;
      const { text } = await gateway.post("/v1/responses", ask("Hi", { stream: true }));
      // The AI SDK drops errors without a code and a number.
      expect(eventsOf(text).slice(-2)).toMatchObject([
        { type: "error", code, sequence_number: 3 },
        { type: "response.failed", response: { status: "failed" }, sequence_number: 4 },
      ]);
    }
  });
});

describe("signatures of reasoning", () => {
  const yaml = (base: string) =>
    `${base.replace("models:\n", "models:\n  other-model: {provider: responses-provider, model: up-other, retries: 0, price: {input: 1, output: 2}}\n")}routers: {auto: {models: [responses-model]}, other: {models: [other-model]}}\n`;
  const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" };

  it.each([true, false])("are given back to their model only, stream: %s", async (stream) => {
    const host = await startDialectUpstream();
    host.answer = () => ({
      body: stream ? streamOf([REASONING, TEXT]) : response([REASONING, TEXT]),
    });
    const gateway = await startGateway(yaml(host.yaml));
    const first = await gateway.post("/v1/responses", ask("Hi", { stream }));
    const { output } = stream ? eventsOf(first.text).at(-1).response : first.json;
    expect(output[0].encrypted_content).toMatch(/^joust1\.responses\./);
    const history = [{ role: "user", content: "Hi" }, ...output, { role: "user", content: "More" }];
    await gateway.post("/v1/responses", ask(history));
    expect(host.received.at(-1)!.body.input[1]).toEqual(REASONING);
    await gateway.post("/v1/responses", ask(history, { model: "other" }));
    const { input } = host.received.at(-1)!.body;
    expect(input.map((item: { type?: string }) => item.type)).toEqual([
      undefined,
      "message",
      undefined,
    ]);
  });
});

describe("the sandbox", () => {
  const gateway = sharedGateway(() => `${SANDBOX}\nrouters: {auto: {aliases: ["gpt-*"]}}`);
  const client = (): OpenAI => gateway().client();

  it("answers OpenAI's client under an alias, complete and as a stream", async () => {
    const request = { model: "gpt-77", input: "Why is the sky blue?" };
    const answer = await client().responses.create(request);
    expect(answer.output_text).toMatch(/\w/);
    expect(answer).toMatchObject({ status: "completed", store: false, joust: { router: "auto" } });
    expect(answer.completed_at).toBeGreaterThanOrEqual(answer.created_at);
    const stream = client().responses.stream(request);
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.created") expect(event.response.completed_at).toBeNull();
    }
    expect([types[0], types[1], types.at(-1)]).toEqual([
      "response.created",
      "response.in_progress",
      "response.completed",
    ]);
    const final = await stream.finalResponse();
    expect(final.output_text).toMatch(/\w/);
    expect(final.completed_at).toBeGreaterThanOrEqual(final.created_at);
    expect(final).toMatchObject({ joust: { cost: expect.any(Number) } });
    expect(final.usage!.output_tokens).toBeGreaterThan(0);
  });

  it("calls tools, keeps its model in the loop and gives structured output", async () => {
    const tools = [
      {
        type: "function" as const,
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" } } },
        strict: false,
      },
    ];
    const input = [{ role: "user" as const, content: "What is the weather in Paris?" }];
    const first = await client().responses.create({
      model: "auto",
      input,
      tools,
      tool_choice: "required",
    });
    const call = first.output.find((item) => item.type === "function_call")!;
    expect(call.name).toBe("weather");
    const second = await client().responses.create({
      model: "auto",
      input: [
        ...input,
        call,
        { type: "function_call_output", call_id: call.call_id, output: "21 degrees" },
      ],
      tools,
    });
    const model = (answer: unknown) => (answer as { joust: { model: string } }).joust.model;
    expect(model(second)).toBe(model(first));
    const schema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    };
    const structured = await client().responses.create({
      model: "auto",
      input: "How many?",
      text: { format: { type: "json_schema", name: "count", schema } },
    });
    expect(JSON.parse(structured.output_text)).toHaveProperty("n");
  });

  it("gives two answers to a request for a duel", async () => {
    const duel = { joust: { duel: true } };
    const { json } = await gateway().post("/v1/responses", ask("Write a poem.", duel));
    expect(json).toMatchObject({
      model: "auto",
      joust: { duel: true, second: { object: "response", output: [{ type: "message" }] } },
    });
    const voted = await gateway().post("/v1/feedback", { id: json.joust.decision_id, winner: 1 });
    expect(voted.status).toBe(200);
    const streamed = await gateway().post(
      "/v1/responses",
      ask("Write a poem.", { ...duel, stream: true }),
    );
    const events = eventsOf(streamed.text);
    expect(events[0].response.joust).toMatchObject({ duel: true });
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { joust: { duel: true, second: { object: "response" } } },
    });
  });
});
