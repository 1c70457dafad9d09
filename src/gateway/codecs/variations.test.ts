import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { chatAnswer, chatRequest } from "./chat-wire.fixture.ts";
import { CODECS } from "./codecs.ts";
import { Accumulator, eventsOf } from "./items/accumulate.ts";
import type { Answer } from "./items/answer.ts";
import { messagesAnswer, messagesRequest } from "./messages-wire.fixture.ts";
import { responsesAnswer, responsesRequest } from "./responses-wire.fixture.ts";

/** Tests forms that clients and upstreams send other than those that the codecs write. */

const user = (content: unknown) => ({ role: "user", content });
const WIRES: Record<DialectName, fc.Arbitrary<object>[]> = {
  chat: [chatRequest, chatAnswer],
  responses: [responsesRequest, responsesAnswer],
  messages: [messagesRequest, messagesAnswer],
};

/** Replaces one value somewhere in the JSON by another one. */
function damaged(value: unknown, path: readonly number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  if (keys.length === 0) return by;
  const key = keys[step % keys.length]!;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  Reflect.set(copy, key, damaged(Reflect.get(value, key), rest, by));
  return copy;
}

describe.each(DIALECTS)("%s", (dialect) => {
  const codec = CODECS[dialect];
  it("reads any JSON without an error", () => {
    const path = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.oneof(...WIRES[dialect]),
        path,
        fc.jsonValue({ maxDepth: 2 }),
        (wire, at, by) => {
          const body = JSON.parse(JSON.stringify(damaged(wire, at, by)));
          if (typeof body !== "object" || body === null || Array.isArray(body)) return;
          for (const to of DIALECTS) {
            CODECS[to].writeRequest(codec.parseRequest(body));
            CODECS[to].writeAnswer(codec.parseAnswer(body));
          }
          const parser = codec.streamParser();
          const accumulator = new Accumulator();
          for (const type of EVENT_TYPES) {
            const event = { ...body, type, response: body, message: body, item: body, delta: body };
            parser.push(JSON.stringify(event), (each) => accumulator.push(each));
          }
          parser.end((each) => accumulator.push(each));
          accumulator.answer();
        },
      ),
      { seed: 5, numRuns: 300 },
    );
  });
});

const EVENT_TYPES = [
  ...["response.created", "response.output_item.added", "response.output_text.delta"],
  ...["response.output_item.done", "message_start", "content_block_start", "content_block_delta"],
  ...["content_block_stop", "message_delta", "response.completed", "message_stop", "unknown"],
];

describe("requests that mean the same", () => {
  const call = { name: "f", arguments: "{}" };
  it.each<[string, DialectName, Json, Json]>([
    [
      "text as a string or as parts",
      "chat",
      { messages: [user("hi")] },
      { messages: [user([{ type: "text", text: "hi" }])] },
    ],
    [
      "an empty text",
      "chat",
      { messages: [user("hi")] },
      {
        messages: [
          user([
            { type: "text", text: "hi" },
            { type: "text", text: "" },
          ]),
        ],
      },
    ],
    [
      "an empty block",
      "messages",
      { system: "s" },
      {
        system: [
          { type: "text", text: "" },
          { type: "text", text: "s" },
        ],
      },
    ],
    [
      "an empty part",
      "responses",
      { input: "hi" },
      {
        input: [
          user([
            { type: "input_text", text: "" },
            { type: "input_text", text: "hi" },
          ]),
        ],
      },
    ],
    ["max_tokens", "chat", { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ["a single stop", "chat", { stop: "x" }, { stop: ["x"] }],
    [
      "functions",
      "chat",
      { functions: [{ name: "f" }], function_call: { name: "f" } },
      {
        tools: [{ type: "function", function: { name: "f" } }],
        tool_choice: { type: "function", function: { name: "f" } },
      },
    ],
    [
      "calls of functions",
      "chat",
      {
        messages: [
          { role: "assistant", content: null, function_call: call },
          { role: "function", name: "f", content: "1" },
        ],
      },
      {
        messages: [
          { role: "assistant", tool_calls: [{ id: "call_f", type: "function", function: call }] },
          { role: "tool", tool_call_id: "call_f", content: "1" },
        ],
      },
    ],
    [
      "refusal",
      "chat",
      { messages: [{ role: "assistant", refusal: "no" }] },
      { messages: [{ role: "assistant", content: [{ type: "refusal", refusal: "no" }] }] },
    ],
    [
      "reasoning of vLLM",
      "chat",
      { messages: [{ role: "assistant", content: "a", reasoning: "r" }] },
      { messages: [{ role: "assistant", content: "a", reasoning_content: "r" }] },
    ],
    [
      "input as a string",
      "responses",
      { input: "hi" },
      { input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }] },
    ],
    [
      "a message without a type",
      "responses",
      { input: [user("hi")] },
      { input: [{ type: "message", ...user([{ type: "input_text", text: "hi" }]) }] },
    ],
    [
      "generate_summary",
      "responses",
      { reasoning: { generate_summary: "auto" } },
      { reasoning: { summary: "auto" } },
    ],
    ["system as a string", "messages", { system: "s" }, { system: [{ type: "text", text: "s" }] }],
    [
      "custom tools",
      "messages",
      { tools: [{ type: "custom", name: "f", input_schema: {} }] },
      { tools: [{ name: "f", input_schema: {} }] },
    ],
  ])("%s", (_, dialect, a, b) => {
    const parseRequest = (body: Json) => ({
      ...CODECS[dialect].parseRequest(body),
      legacyFunctions: undefined,
    });
    expect(parseRequest(a)).toEqual(parseRequest(b));
    expect(parseRequest(a)).not.toEqual(parseRequest({}));
  });
});

it("chat clients may send what only Anthropic's models know", () => {
  const text = { type: "text", text: "hi", cache_control: { type: "ephemeral", ttl: "1h" } };
  const document = { type: "document", source: { type: "text", data: "d" } };
  const same = {
    messages: [user([text, document])],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
    top_k: 5,
    thinking: { type: "enabled", budget_tokens: 2000 },
  };
  const request = CODECS.chat.parseRequest(same);
  expect(CODECS.messages.writeRequest(request)).toMatchObject(same);
});

describe("a client of the older functions", () => {
  const request = CODECS.chat.parseRequest({ functions: [{ name: "f" }], stream: true });
  const items = ["{", "[]"].map(
    (text, i) => ({ type: "function_call", callId: `c${i}`, name: "f", arguments: text }) as const,
  );
  const answer: Answer = {
    id: "1",
    model: "m",
    choices: [{ items, stop: { reason: "tool_calls" } }],
  };

  it("gets one call as function_call", () => {
    expect(CODECS.chat.writeAnswer(answer, request).choices).toMatchObject([
      { message: { function_call: { name: "f", arguments: "{" } }, finish_reason: "function_call" },
    ]);
  });

  it("gets it in a stream, without usage that it did not request", () => {
    const writer = CODECS.chat.streamWriter(request);
    const text = [...eventsOf({ ...answer, usage: undefined })].map((event) => writer.write(event));
    expect(text.join("")).toContain('{"function_call":{"name":"f","arguments":""}}');
    expect(text.join("")).toContain('{"function_call":{"arguments":"{"}}');
    expect(text.join("")).not.toMatch(/tool_calls|usage|\[\]"/);
    expect(text.join("")).toContain('"finish_reason":"function_call"');
  });
});

it("arguments that are not a JSON object become the member input in messages", () => {
  const items = [{ type: "function_call", callId: "c", name: "f", arguments: "oops" } as const];
  expect(CODECS.messages.writeRequest({ model: "m", stream: false, items }).messages).toEqual([
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c", name: "f", input: { input: "oops" } }],
    },
  ]);
});
