import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hashEncoder } from "../../encoder/hash.ts";
import { StandingClock } from "../upstream/clock.fixture.ts";
import { systemClock } from "../upstream/clock.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import { readUsage } from "../upstream/usage.ts";
import { readExamples } from "./kinds.ts";
import type { Questions } from "./questions.ts";
import { readSandbox, Sandbox, type SandboxData } from "./sandbox.ts";

const DATA = resolve(import.meta.dirname, "../../../data");
const open = (settings = {}) =>
  new Sandbox(data, { seed: 1, speed: Infinity, clock: systemClock, ...settings });

let data: SandboxData;
let questions: Questions;
let sandbox: Sandbox;
beforeAll(async () => {
  data = await readSandbox(DATA, hashEncoder);
  questions = data.questions;
  sandbox = open();
});

const never = new AbortController().signal;
const requestOf = (chat: object, endpoint: UpstreamRequest["endpoint"] = "chat/completions") => {
  const { model = "gpt-3.5", stream = false } = chat as { model?: string; stream?: boolean };
  return { endpoint, body: Buffer.from(JSON.stringify(chat)), model, stream };
};
const call = async (chat: object, endpoint?: UpstreamRequest["endpoint"], from = sandbox) => {
  const answer = await from.call(requestOf(chat, endpoint), never);
  const pieces: string[] = [];
  for await (const piece of answer.body) pieces.push(Buffer.from(piece).toString());
  return { answer, pieces, text: pieces.join(""), end: await answer.end };
};
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const ask = async (chat: object, from = sandbox) =>
  JSON.parse((await call(chat, undefined, from)).text);
const said = async (model: string, query: string, from = sandbox): Promise<string> =>
  (await ask({ model, ...user(query) }, from)).choices[0].message.content;

describe("the profile", () => {
  it("is the paper's ten models on seven kinds", () => {
    expect(sandbox.profile.models).toHaveLength(10);
    expect(sandbox.profile.models).not.toContain("gpt-4");
    expect(sandbox.profile.kinds.toSorted()).toEqual(
      [...new Set(questions.all.map(({ category }) => category))].toSorted(),
    );
    expect(sandbox.profile.quality("yi-34b", "hellaswag")).toBe(0.931);
    expect(sandbox.profile.cost("claude-v2", "gsm8k")).toBe(0.01349);
    expect(() => sandbox.profile.quality("gpt-4", "mmlu")).toThrow(RangeError);
  });

  it("has a price for tokens at which the questions cost the same in the mean", async () => {
    for (const model of ["mistral-7b", "claude-v2"]) {
      const { input } = sandbox.price(model);
      let byTokens = 0;
      let byProfile = 0;
      for (const { query, category } of questions.all) {
        const { usage } = await ask({ model, ...user(query) });
        byTokens += (usage.total_tokens * input) / 1e6;
        byProfile += sandbox.profile.cost(model, category);
      }
      expect(Math.abs(byTokens / byProfile - 1)).toBeLessThan(0.2);
    }
  });
});

describe("an answer", () => {
  it("is the same for the same seed, model and prompt, whatever was asked before", async () => {
    const other = open();
    const { query } = questions.all[3]!;
    await said("gpt-3.5", "something else", other);
    for (const model of sandbox.profile.models) {
      expect(await said(model, query, other)).toBe(await said(model, query));
    }
  });

  it("depends on the seed, and on the model", async () => {
    const other = open({ seed: 2 });
    const some = questions.all.slice(0, 20);
    const answers = (model: string, from: Sandbox) =>
      Promise.all(some.map(({ query }) => said(model, query, from)));
    const mine = await answers("gpt-3.5", sandbox);
    expect(await answers("gpt-3.5", other)).not.toEqual(mine);
    expect(await answers("yi-34b", sandbox)).not.toEqual(mine);
  });

  it("says that it is of the sandbox, and not of which model", async () => {
    for (const model of sandbox.profile.models) {
      for (const query of [questions.all[0]!.query, "tell me about whales"]) {
        const { system_fingerprint, choices } = await ask({ model, ...user(query) });
        expect(system_fingerprint).toBe("joust-sandbox");
        expect(choices[0].message.content).toContain("Joust sandbox: a simulated answer");
        expect(choices[0].message.content).not.toMatch(
          /wizard|mistral|mixtral|llama|yi-|gpt|claude/i,
        );
      }
    }
  });

  it("has the shape of a chat completion, with usage", async () => {
    const { end, text } = await call({ model: "yi-34b", ...user("Hi there") });
    const answer = JSON.parse(text);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: "yi-34b",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant" } }],
    });
    expect(end.usage).toEqual(readUsage(answer.usage));
    expect(end.usage!.cost).toBeGreaterThan(0);
  });

  it("to a free-form prompt says for what it stands", async () => {
    expect(await said("gpt-3.5", "write a sonnet about rain")).toMatch(
      /stands for a (good|weak) answer to open writing/,
    );
    expect(await said("gpt-3.5", "write a function in python that adds two lists")).toMatch(
      /stands for a (right|wrong) answer to a programming task/,
    );
  });

  it("takes the question from what is around it", async () => {
    const { query, answer, wrong } = questions.all[0]!;
    const messages = [
      { role: "system", content: "You are helpful." },
      {
        role: "user",
        content: [{ type: "text", text: `<system-reminder>noise</system-reminder>\n${query}` }],
      },
    ];
    const { choices } = await ask({ messages });
    expect([answer, ...wrong].some((text) => choices[0].message.content.includes(text))).toBe(true);
  });
});

describe("questions are found", () => {
  it("each as itself, without its options, in capitals, and with a word changed", () => {
    for (const question of questions.all) {
      const { id, query } = question;
      const shouted = query.toUpperCase().replace(/[?.,]/g, " ");
      const words = query.split(" ");
      const changed = words.with(Math.floor(words.length / 2), "something").join(" ");
      for (const text of [
        query,
        `  ${query}\n`,
        query.replace(/\n[A-D]\) .*/gs, ""),
        shouted,
        changed,
      ]) {
        expect(questions.find(text)?.id, text).toBe(id);
      }
    }
  });

  it("and nothing else is taken for one", async () => {
    for (const name of ["exemplars", "dev", "test"]) {
      for (const { query } of await readExamples(resolve(DATA, "free-form", `${name}.jsonl`))) {
        expect(questions.find(query), query).toBeUndefined();
      }
    }
    expect(questions.find("")).toBeUndefined();
  });
});

describe("a stream", () => {
  const chunksOf = (text: string) => {
    const events = text.split("\n\n").slice(0, -1);
    expect(events.pop()).toBe("data: [DONE]");
    return events.map((event) => JSON.parse(event.slice("data: ".length)));
  };

  it("is the answer token by token", async () => {
    const chat = { model: "llama-70b", n: 2, ...user(questions.all[30]!.query) };
    const whole = await ask(chat);
    const { text, pieces, end } = await call({ ...chat, stream: true });
    for (const piece of pieces) expect(piece).toMatch(/^(data: .*\n\n)+$/);
    const chunks = chunksOf(text);
    expect(end.events).toBe(chunks.length + 1);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        object: "chat.completion.chunk",
        system_fingerprint: "joust-sandbox",
        model: "llama-70b",
      });
    }
    for (const index of [0, 1]) {
      const mine = chunks.flatMap(({ choices }) =>
        choices.filter((choice: { index: number }) => choice.index === index),
      );
      expect(mine[0].delta).toEqual({ role: "assistant", content: "" });
      expect(mine.map(({ delta }) => delta.content ?? "").join("")).toBe(
        whole.choices[index].message.content,
      );
      expect(mine.map((choice) => choice.finish_reason).filter(Boolean)).toEqual(["stop"]);
    }
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    expect(end.usage).toEqual(readUsage(whole.usage));
  });

  it("ends in usage for a client that asks", async () => {
    const { text } = await call({
      ...user("hi"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const last = chunksOf(text).at(-1);
    expect(last.choices).toEqual([]);
    expect(last.usage.completion_tokens).toBeGreaterThan(0);
  });

  it("comes at the model's pace", async () => {
    const time = async (model: string, stream: boolean, speed: number) => {
      const clock = new StandingClock();
      const slow = open({ clock, speed });
      const { end } = await call(
        { model, ...user(questions.all[25]!.query), stream },
        undefined,
        slow,
      );
      return {
        first: end.firstByteAt - end.sentAt,
        rate: end.usage!.completionTokens / ((end.endedAt - end.firstByteAt) / 1000),
        all: end.endedAt - end.sentAt,
      };
    };
    const fast = await time("mistral-7b", true, 1);
    expect(fast.first).toBe(150);
    expect(Math.abs(fast.rate / 110 - 1)).toBeLessThan(0.35);
    const slow = await time("claude-v2", true, 1);
    expect(slow.first).toBe(800);
    expect(slow.rate).toBeLessThan(fast.rate / 2);
    expect((await time("claude-v2", true, 4)).first).toBe(200);
    expect((await time("claude-v2", false, 1)).all).toBeGreaterThan(800);
    expect((await time("claude-v2", true, Infinity)).all).toBe(0);
  });

  it("stops with its client", async () => {
    const clock = new StandingClock();
    const slow = open({ clock, speed: 1 });
    const client = new AbortController();
    const answer = await slow.call(requestOf({ ...user("hi"), stream: true }), client.signal);
    client.abort();
    await expect(
      (async () => {
        for await (const _ of answer.body);
      })(),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect((await answer.end).error?.code).toBe("cancelled");
    const gone = slow.call(requestOf(user("hi")), AbortSignal.abort());
    await expect(gone).rejects.toMatchObject({ code: "cancelled", fault: "client" });
  });

  it("stops when its reader leaves", async () => {
    const live = open({ speed: 1000 });
    const answer = await live.call(requestOf({ ...user("hi"), stream: true }), never);
    for await (const _ of answer.body) break;
    expect((await answer.end).error?.code).toBe("cancelled");
  });
});

describe("requests of other forms", () => {
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

  it("a tool that fits is called, by its schema", async () => {
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
  ])("a tool is called as the request says: %s", async (_, chat, name) => {
    const { choices } = await ask({ ...user("tell me a joke"), ...chat });
    expect(choices[0].message.tool_calls?.[0].function.name).toBe(name);
  });

  it("what a tool gave back is told", async () => {
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
    expect(choices[0].message.content).toContain("The tool says: 21 degrees");
  });

  it("JSON is JSON", async () => {
    const object = await ask({ ...user("hi"), response_format: { type: "json_object" } });
    expect(JSON.parse(object.choices[0].message.content).note).toMatch(/sandbox/);
    const json_schema = { name: "w", schema: parameters };
    const formed = await ask({
      ...user("hi"),
      response_format: { type: "json_schema", json_schema },
    });
    expect(Object.keys(JSON.parse(formed.choices[0].message.content))).toEqual(Object.keys(input));
  });

  it("stops and limits are kept", async () => {
    const limited = await ask({ ...user("hi"), max_tokens: 3 });
    expect(limited).toMatchObject({
      choices: [{ finish_reason: "length" }],
      usage: { completion_tokens: 3 },
    });
    const stopped = await ask({ ...user("hi"), stop: ["Joust"] });
    expect(stopped.choices[0].message.content).not.toContain("Joust");
  });

  it("prompts of the time before chats are answered", async () => {
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

  it("embeddings are the encoder's, as numbers and in base64", async () => {
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
  ])("%j to %s is refused as a real host would", async (chat, endpoint, expected) => {
    const error = await call(chat, endpoint).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "UpstreamError", code: "status", ...expected });
    expect(JSON.parse(Buffer.from(error.body).toString()).error.type).toBe("invalid_request_error");
  });
});
