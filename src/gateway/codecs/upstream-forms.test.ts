import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../wire/dialect-names.ts";
import { CODECS } from "./codecs.ts";
import { Accumulator } from "./items/accumulate.ts";
import type { Answer } from "./items/answer.ts";
import type { ItemEvent } from "./items/event.ts";

/** Tests streams that upstreams send in forms other than those that the codecs write. */

function read(dialect: DialectName, events: readonly object[]): Answer {
  const parser = CODECS[dialect].streamParser();
  const accumulator = new Accumulator();
  for (const event of events) parser.push(JSON.stringify(event), (each) => accumulator.push(each));
  parser.end((each) => accumulator.push(each));
  return accumulator.answer();
}

describe("streams of chat upstreams", () => {
  const chunk = (delta: object, more: object = {}) => ({
    id: "1",
    model: "m",
    choices: [{ index: 0, delta, ...more }],
  });
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const called = (...calls: object[]) => chunk({ tool_calls: calls });

  it("usage may come with every chunk, and [DONE] may be missing", () => {
    const answer = read("chat", [
      { ...chunk({ content: "a" }), usage: { prompt_tokens: 3, completion_tokens: 1 } },
      { ...chunk({}, { finish_reason: "stop" }), usage },
    ]);
    expect(answer.usage).toMatchObject({ promptTokens: 3, completionTokens: 2 });
    expect(answer.choices[0]).toMatchObject({
      stop: { reason: "end" },
      items: [{ content: [{ text: "a" }] }],
    });
  });

  it("calls may lack an index, come whole, or begin in the middle of a chunk", () => {
    const f = (name: string, id: string) => ({
      id,
      type: "function",
      function: { name, arguments: "{}" },
    });
    const whole = read("chat", [
      called(f("a", "1")),
      called(f("b", "2")),
      chunk({}, { finish_reason: "tool_calls" }),
    ]);
    expect(whole.choices[0]!.items).toMatchObject([
      { name: "a", arguments: "{}" },
      { name: "b", arguments: "{}" },
    ]);
    const part = (index: number, text: string) => ({ index, function: { arguments: text } });
    const start = (index: number, name: string) => ({
      index,
      id: name,
      function: { name, arguments: "" },
    });
    const mixed = read("chat", [
      called(start(1, "a")),
      called(part(1, "{")),
      called(start(2, "b"), part(2, "[")),
      called(part(2, "]")),
      chunk({}, { finish_reason: "tool_calls" }),
    ]);
    expect(mixed.choices[0]!.items).toMatchObject([
      { name: "a", arguments: "{" },
      { name: "b", arguments: "[]" },
    ]);
  });

  it("an empty finish_reason does not end the answer", () => {
    const answer = read("chat", [
      chunk({ content: "Hel" }, { finish_reason: "" }),
      chunk({ content: "lo" }, { finish_reason: "" }),
      chunk({}, { finish_reason: "length" }),
    ]);
    expect(answer.choices[0]).toMatchObject({
      items: [{ content: [{ text: "Hello" }] }],
      stop: { reason: "length" },
    });
  });

  it("every chunk may have a finish_reason, or none before [DONE]", () => {
    const call = { index: 0, id: "1", function: { name: "f", arguments: "{}" } };
    const many = read("chat", [
      chunk({ reasoning_content: "hm" }, { finish_reason: "stop" }),
      chunk({ content: "Hel" }, { finish_reason: "stop" }),
      chunk({ content: "lo" }, { finish_reason: "stop" }),
      chunk({ tool_calls: [call] }, { finish_reason: "tool_calls" }),
    ]);
    expect(many.choices[0]).toMatchObject({
      items: [{ text: ["hm"] }, { content: [{ text: "Hello" }] }, { name: "f", arguments: "{}" }],
      stop: { reason: "tool_calls" },
    });
    const events: ItemEvent["type"][] = [];
    const parser = CODECS.chat.streamParser();
    for (const data of [JSON.stringify(chunk({ content: "Hello" })), "[DONE]"]) {
      parser.push(data, ({ type }) => events.push(type));
    }
    expect(events).toEqual(["start", "item", "delta", "done", "stop", "end"]);
  });

  it("parallel calls may all have the index 0", () => {
    const whole = (id: string, path: string) => ({
      index: 0,
      id,
      function: { name: "read", arguments: JSON.stringify({ path }) },
    });
    const answer = read("chat", [
      called(whole("1", "a")),
      called(whole("2", "b")),
      chunk({}, { finish_reason: "tool_calls" }),
    ]);
    expect(answer.choices[0]!.items).toMatchObject([
      { callId: "1", arguments: '{"path":"a"}' },
      { callId: "2", arguments: '{"path":"b"}' },
    ]);
  });

  it("parallel calls may be mixed: one is complete before the next one begins", () => {
    const start = (index: number, id: string) => ({ index, id, function: { name: "f" } });
    const part = (index: number, text: string) => ({ index, function: { arguments: text } });
    const parser = CODECS.chat.streamParser();
    const events: string[] = [];
    const note = (event: ItemEvent) => {
      if (event.type === "item" || event.type === "done") events.push(event.type + event.index);
      if (event.type === "delta") events.push(event.index + event.text);
    };
    const push = (data: object) => parser.push(JSON.stringify(data), note);
    push(called(start(0, "a"), start(1, "b"), start(2, "c")));
    push(called(part(0, '{"x":{}'), part(1, '{"y":')));
    expect(events).toEqual(["item0", '0{"x":{}']);
    push(called(part(0, "}")));
    push(called(part(1, "1}"), part(2, "{")));
    push(chunk({}, { finish_reason: "tool_calls" }));
    parser.end(note);
    const first = ["item0", '0{"x":{}', "0}", "done0"];
    const second = ["item1", '1{"y":', "11}", "done1"];
    expect(events).toEqual([...first, ...second, "item2", "2{", "done2"]);
  });

  it("a call in the older format becomes a function call", () => {
    const answer = read("chat", [
      chunk({ function_call: { name: "f", arguments: "" } }),
      chunk({ function_call: { arguments: "{}" } }),
      chunk({}, { finish_reason: "function_call" }),
    ]);
    expect(answer.choices[0]).toMatchObject({
      items: [{ callId: "call_f", name: "f", arguments: "{}" }],
      stop: { reason: "tool_calls" },
    });
  });

  it("Mistral's reasoning is a part of the content", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    const answer = read("chat", [
      chunk({ content: [thinking] }),
      chunk({ content: [{ type: "text", text: "4" }] }),
      chunk({ content: "" }, { finish_reason: "stop" }),
    ]);
    expect(answer.choices[0]!.items).toMatchObject([
      { text: ["hm"] },
      { content: [{ text: "4" }] },
    ]);
  });
});

describe("streams of Anthropic's upstreams", () => {
  const start = {
    type: "message_start",
    message: {
      id: "1",
      model: "m",
      usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  };
  const block = (content_block: object) => ({
    type: "content_block_start",
    index: 0,
    content_block,
  });
  const stop = { type: "content_block_stop", index: 0 };
  const end = [
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ];

  it("ping, a second message_start and unknown deltas change nothing; the prompt is counted at the start", () => {
    const answer = read("messages", [
      start,
      { type: "ping" },
      start,
      block({ type: "text", text: "a" }),
      { type: "content_block_delta", index: 0, delta: { type: "new_delta" } },
      stop,
      ...end,
    ]);
    expect(answer).toMatchObject({
      choices: [{ items: [{ content: [{ type: "text", text: "a" }] }] }],
      usage: { promptTokens: 10, cachedTokens: 3, completionTokens: 9 },
    });
  });

  it("blocks without text are left out", () => {
    const text = (words: string) => block({ type: "text", text: words });
    const answer = read("messages", [
      start,
      text(""),
      stop,
      text("a"),
      stop,
      text(""),
      stop,
      text("b"),
      stop,
      ...end,
    ]);
    expect(answer.choices[0]!.items).toMatchObject([{ content: [{ text: "a" }, { text: "b" }] }]);
    expect(read("messages", [start, text(""), stop, ...end]).choices[0]!.items).toEqual([]);
  });

  it("a call without input has the arguments {}; input in its first event becomes its arguments", () => {
    const tool = (input: object) => block({ type: "tool_use", id: "t", name: "f", input });
    const answer = read("messages", [start, tool({}), stop, tool({ a: 1 }), stop, ...end]);
    expect(answer.choices[0]!.items).toMatchObject([{ arguments: "{}" }, { arguments: '{"a":1}' }]);
  });

  it("a call that another block cuts off keeps the arguments that have come", () => {
    const tool = block({ type: "tool_use", id: "t", name: "f", input: {} });
    const delta = { type: "input_json_delta", partial_json: '{"a":"b' };
    const more = { type: "content_block_delta", index: 0, delta };
    const { items } = read("messages", [start, tool, more, tool, stop, ...end]).choices[0]!;
    expect(items).toMatchObject([{ arguments: '{"a":"b' }, { arguments: "{}" }]);
  });

  it("a block of a server tool is kept as it is, with its input", () => {
    const delta = (partial_json: string) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    });
    const answer = read("messages", [
      start,
      block({ type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      delta('{"q"'),
      delta(":1}"),
      stop,
      block({ type: "new_result", content: [] }),
      stop,
      ...end,
    ]);
    expect(answer.choices[0]!.items).toEqual([
      {
        type: "hosted",
        dialect: "messages",
        value: { type: "server_tool_use", id: "s", name: "web_search", input: { q: 1 } },
      },
      { type: "hosted", dialect: "messages", value: { type: "new_result", content: [] } },
    ]);
  });
});

it.each(DIALECTS)(
  "a stream of %s with broken JSON is an error, an empty event is not",
  (dialect) => {
    const parser = CODECS[dialect].streamParser();
    const seen: unknown[] = [];
    parser.push("", (event) => seen.push(event));
    expect(() => parser.push('{"type":', (event) => seen.push(event))).toThrow(SyntaxError);
    expect(seen).toEqual([]);
  },
);

it("a stream without its first event begins with its first item", () => {
  const item = { type: "message", id: "msg_1", role: "assistant", content: [] };
  const added = { type: "response.output_item.added", output_index: 0, item };
  const block = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "text", text: "a" },
  };
  for (const [dialect, event] of [
    ["responses", added],
    ["messages", block],
  ] as const) {
    const seen: string[] = [];
    CODECS[dialect].streamParser().push(JSON.stringify(event), ({ type }) => seen.push(type));
    expect(seen.slice(0, 2)).toEqual(["start", "item"]);
  }
});

it("responses number their parts without gaps", () => {
  const writer = CODECS.responses.streamWriter();
  const place = { choice: 0, index: 0 };
  const text = [
    writer.write({ type: "start", id: "resp_1", model: "m" }),
    writer.write({
      type: "item",
      ...place,
      item: { type: "message", role: "assistant", content: [] },
    }),
    writer.write({ type: "delta", ...place, part: 1, kind: "text", text: "a" }),
    writer.write({ type: "delta", ...place, part: 3, kind: "text", text: "b" }),
    writer.write({ type: "done", ...place }),
  ].join("");
  expect([...text.matchAll(/"content_index":(\d)/g)].map((match) => match[1]).join("")).toBe(
    "00001111",
  );
  expect(text).toContain(
    '"content":[{"annotations":[],"logprobs":[],"type":"output_text","text":"a"}',
  );
});

it.each([2 ** 32 - 2, -1, 0.5])("the number %s of a part counts as the first", (summary_index) => {
  const item = { type: "reasoning", id: "rs_1", summary: [] };
  const answer = read("responses", [
    { type: "response.output_item.added", output_index: 0, item },
    {
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      summary_index,
      delta: "hm",
    },
    { type: "response.output_item.done", output_index: 0, item },
  ]);
  expect(answer.choices[0]!.items).toMatchObject([{ summary: ["hm"] }]);
});

it("an upstream of Responses may send texts only in the items that are done", () => {
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: "a" }],
  };
  const call = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" };
  const answer = read("responses", [
    { type: "response.created", response: { id: "r", model: "m", created_at: 1 } },
    { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
    { type: "response.output_item.done", output_index: 0, item: message },
    { type: "response.output_item.done", output_index: 1, item: call },
    { type: "response.completed", response: { status: "completed", usage: null } },
  ]);
  expect(answer.choices[0]).toMatchObject({
    items: [{ content: [{ text: "a" }] }, { arguments: "{}" }],
    stop: { reason: "tool_calls" },
  });
});
