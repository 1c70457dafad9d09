import { describe, expect, it } from "vitest";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { Random } from "../../core/random/random.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import { judgedVerdict } from "./judged.ts";
import { sampleOf } from "./sample.ts";
import { ask, call, questions, user } from "./sandbox.fixture.ts";

describe("other requests", () => {
  const parameters = {
    type: "object",
    properties: {
      city: { type: "string", maxLength: 10 },
      days: { type: "integer", minimum: 1, maximum: 7 },
      unit: { enum: ["celsius", "fahrenheit"] },
      alerts: { type: "boolean" },
      where: { $ref: "#/$defs/place" },
      hours: { type: "array", items: { type: "number" }, minItems: 2 },
    },
    $defs: { place: { type: "object", properties: { lat: { type: ["number", "null"] } } } },
  };
  const weather = {
    type: "function",
    function: { name: "get_weather", description: "Weather of a city", parameters },
  };
  const other = { type: "function", function: { name: "send_mail" } };
  const input = {
    city: "what is th",
    days: 7,
    unit: "celsius",
    alerts: true,
    where: { lat: 9 },
    hours: [9, 9],
  };

  it("call a suitable tool with arguments that match its schema", async () => {
    const chat = { ...user("what is the weather in the next 9 days?"), tools: [other, weather] };
    const { choices } = await ask(chat);
    expect(choices[0].finish_reason).toBe("tool_calls");
    const [tool] = choices[0].message.tool_calls;
    expect(tool).toMatchObject({ type: "function", function: { name: "get_weather" } });
    expect(JSON.parse(tool.function.arguments)).toEqual(input);
    const { text } = await call({ ...chat, stream: true });
    const deltas = text
      .split("\n\n")
      .slice(0, -2)
      .flatMap((event) => JSON.parse(event.slice(6)).choices[0].delta.tool_calls ?? []);
    expect(deltas[0]).toMatchObject({
      index: 0,
      type: "function",
      function: { name: "get_weather" },
    });
    expect(deltas.every(({ index }) => index === 0)).toBe(true);
    expect(JSON.parse(deltas.map((delta) => delta.function.arguments).join(""))).toEqual(input);
  });

  it.each([
    ["a list", { type: "array", items: { type: "string" }, minItems: 1e9 }],
    ["a text", { type: "string", minLength: 1e9 }],
    [
      "a tree",
      { properties: Object.fromEntries([..."abcdefghij"].map((a) => [a, { $ref: "#" }])) },
    ],
    ["constants", { type: "array", items: { const: "x".repeat(10_000) }, minItems: 1e6 }],
  ])("a schema cannot make %s of any size", (_, schema) => {
    expect(JSON.stringify(sampleOf(schema, "hi")).length).toBeLessThan(1e6);
  });

  it.each([
    ["no tool fits", { tools: [weather] }, undefined],
    ["one has to be called", { tools: [other], tool_choice: "required" }, "send_mail"],
    [
      "it is named",
      {
        tools: [weather, other],
        tool_choice: { type: "function", function: { name: "send_mail" } },
      },
      "send_mail",
    ],
    ["none may be called", { tools: [other], tool_choice: "none" }, undefined],
  ])("choose the tool: %s", async (_, chat, name) => {
    const { choices } = await ask({ ...user("tell me a joke"), ...chat });
    expect(choices[0].message.tool_calls?.[0].function.name).toBe(name);
  });

  it("repeat the result of a tool", async () => {
    const messages = [
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        tool_calls: [
          { id: "a", type: "function", function: { name: "get_weather", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "21 degrees" },
    ];
    const { choices } = await ask({ messages, tools: [weather] });
    expect(choices[0].message.content).toContain("The tool returned: 21 degrees");
  });

  it("get JSON if they ask for it", async () => {
    const object = await ask({ ...user("hi"), response_format: { type: "json_object" } });
    expect(JSON.parse(object.choices[0].message.content).note).toMatch(/sandbox/);
    const json_schema = { name: "w", schema: parameters };
    const formed = await ask({
      ...user("hi"),
      response_format: { type: "json_schema", json_schema },
    });
    expect(Object.keys(JSON.parse(formed.choices[0].message.content))).toEqual(Object.keys(input));
  });

  it("limit the answer by stop sequences and tokens", async () => {
    const limited = await ask({ ...user("hi"), max_tokens: 3 });
    expect(limited).toMatchObject({
      choices: [{ finish_reason: "length" }],
      usage: { completion_tokens: 3 },
    });
    const stopped = await ask({ ...user("hi"), stop: ["Joust"] });
    expect(stopped.choices[0].message.content).not.toContain("Joust");
  });

  it("complete a prompt", async () => {
    const { query, answer, wrong } = questions.all[5]!;
    const { text } = await call({ prompt: query }, "completions");
    const { object, choices } = JSON.parse(text);
    expect(object).toBe("text_completion");
    expect([answer, ...wrong].some((words) => choices[0].text.includes(words))).toBe(true);
    const streamed = await call({ prompt: query, stream: true }, "completions");
    const texts = streamed.text
      .split("\n\n")
      .slice(0, -2)
      .map((event) => JSON.parse(event.slice(6)).choices[0].text);
    expect(texts.join("")).toBe(choices[0].text);
  });

  it("get the encoder's embeddings, as numbers or in base64", async () => {
    const { text, end } = await call({ input: ["a b", "c"] }, "embeddings");
    const { data } = JSON.parse(text);
    const [x] = await hashEncoder.encode(["a b"]);
    expect(data[0].embedding).toEqual([...Float32Array.from(x!)]);
    expect(end.usage?.promptTokens).toBe(1);
    const packed = JSON.parse(
      (await call({ input: "a b", encoding_format: "base64" }, "embeddings")).text,
    );
    const bytes = Buffer.from(packed.data[0].embedding, "base64");
    expect(bytes.readFloatLE(4)).toBe(data[0].embedding[1]);
  });

  it.each<[object, UpstreamRequest["endpoint"], object]>([
    [{ model: "gpt-4", ...user("x") }, "chat/completions", { status: 404, elsewhere: true }],
    [{ messages: [] }, "chat/completions", { status: 400, fault: "request" }],
    [{ messages: "x" }, "chat/completions", { status: 400 }],
    [{ ...user("x"), n: 0 }, "chat/completions", { status: 400 }],
    [{ ...user("x"), n: 1e9 }, "chat/completions", { status: 400 }],
    [{ input: 5 }, "embeddings", { status: 400 }],
    [[], "chat/completions", { status: 400 }],
  ])("are refused as by a real upstream: %j to %s", async (chat, endpoint, expected) => {
    const error = await call(chat, endpoint).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "UpstreamError", code: "status", ...expected });
    expect(JSON.parse(Buffer.from(error.body).toString()).error.type).toBe("invalid_request_error");
  });
});

it("reads the comparison of a judge in time proportional to its length", () => {
  const marks = ["\n</request>\n<answer_a>\n", "\n</answer_a>\n<answer_b>\n"];
  const text = `<request>\n${marks.map((mark) => mark.repeat(10_000)).join("")}`;
  expect(judgedVerdict(text, () => undefined, Random.seeded(1))).toBeUndefined();
});
