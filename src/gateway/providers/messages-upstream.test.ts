import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { systemClock } from "../clock/clock.ts";
import { HttpUpstream } from "./http-upstream.ts";
import type { UpstreamRequest } from "./upstream/upstream.ts";

/** The next response of the upstream, and its last request. */
let next: { status: number; type: string; body: string; headers?: object };
let received: { path: string; headers: Record<string, unknown>; body: Record<string, unknown> };
let server: Server;
let upstream: HttpUpstream;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received = {
      path: request.url!,
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    };
    response.writeHead(next.status, { "content-type": next.type, ...next.headers });
    // Pieces of an odd length cut events and characters.
    const bytes = Buffer.from(next.body);
    for (let i = 0; i < bytes.length; i += 97) response.write(bytes.subarray(i, i + 97));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  const clock = { ...systemClock, date: () => new StandingClock().date() };
  upstream = new HttpUpstream(
    {
      name: "anthropic",
      url,
      dialects: { messages: `${url}/messages` },
      headers: { "x-api-key": "k" },
    },
    clock,
  );
});
afterAll(async () => {
  await upstream.close();
  server.close();
});
beforeEach(() => {
  next = { status: 200, type: "application/json", body: "" };
});

const call = async (
  chat: object = {},
  endpoint: UpstreamRequest["endpoint"] = "chat/completions",
) => {
  const sent = { model: "auto", messages: [{ role: "user", content: "Hi" }], ...chat };
  const body = Buffer.from(JSON.stringify(sent));
  const stream = "stream" in chat;
  const request = { endpoint, body, model: "claude-x", stream };
  const answer = await upstream.call(request, new AbortController().signal);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return { text: Buffer.concat(chunks).toString(), end: await answer.end };
};

const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 85,
  output_tokens: 7,
};
const OPENAI_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 7,
  total_tokens: 107,
  prompt_tokens_details: { cached_tokens: 85, cache_write_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 0 },
};
const JSON_FORMAT = {
  response_format: { type: "json_schema", json_schema: { name: "count", schema: {} } },
};

describe("a complete answer", () => {
  const message = (content: object[], stop_reason = "end_turn") =>
    JSON.stringify({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x-1",
      content,
      stop_reason,
      usage: USAGE,
    });

  it("is requested with key and version, and becomes a chat completion", async () => {
    next.body = message([
      { type: "text", text: "Hel" },
      { type: "text", text: "lo é😀" },
    ]);
    const { text, end } = await call();
    expect(received.path).toBe("/v1/messages");
    expect(received.headers).toMatchObject({ "x-api-key": "k", "anthropic-version": "2023-06-01" });
    expect(received.body).toMatchObject({ model: "claude-x", max_tokens: 16_384 });
    expect(JSON.parse(text)).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_800_000_000,
      model: "claude-x-1",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello é😀", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: OPENAI_USAGE,
    });
    expect(end.usage).toMatchObject({
      promptTokens: 100,
      cachedTokens: 85,
      cacheWriteTokens: 5,
      completionTokens: 7,
    });
  });

  it("contains calls of tools and thoughts", async () => {
    next.body = message(
      [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Paris" } },
        { type: "tool_use", id: "toolu_2", name: "now", input: {} },
      ],
      "tool_use",
    );
    const [choice] = JSON.parse((await call()).text).choices;
    expect(choice.finish_reason).toBe("tool_calls");
    expect(choice.message).toMatchObject({ content: null, reasoning_content: "hm" });
    expect(choice.message.tool_calls).toEqual([
      {
        id: "toolu_1",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Paris"}' },
      },
      { id: "toolu_2", type: "function", function: { name: "now", arguments: "{}" } },
    ]);
  });

  it("with a schema becomes text that follows the schema", async () => {
    next.body = message(
      [{ type: "tool_use", id: "t", name: "count", input: { n: 3 } }],
      "tool_use",
    );
    const [choice] = JSON.parse((await call(JSON_FORMAT)).text).choices;
    expect(choice).toMatchObject({ finish_reason: "stop", message: { content: '{"n":3}' } });
    expect(choice.message).not.toHaveProperty("tool_calls");
  });

  it.each([
    ["max_tokens", "length"],
    ["stop_sequence", "stop"],
    ["refusal", "content_filter"],
    ["something_new", "stop"],
  ])("has for the stop reason %s the finish reason %s", async (stop, finish) => {
    next.body = message([{ type: "text", text: "x" }], stop);
    expect(JSON.parse((await call()).text).choices[0].finish_reason).toBe(finish);
  });

  it.each(['{"content":[', '{"type":"message"}', "[]"])(
    "is an error if it is not a message: %s",
    async (body) => {
      next.body = body;
      await expect(call()).rejects.toMatchObject({ code: "broken", retryable: true });
    },
  );
});

const sse = (...events: object[]) =>
  events
    .map(
      (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join("");
const start = {
  type: "message_start",
  message: { id: "msg_1", model: "claude-x-1", content: [], usage: { ...USAGE, output_tokens: 1 } },
};
const block = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, value: object) => ({
  type: "content_block_delta",
  index,
  delta: value,
});
const stopped = (index: number) => ({ type: "content_block_stop", index });
const finished = (stop_reason: string) => [
  {
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 7 },
  },
  { type: "message_stop" },
];
const TEXT = [
  start,
  block(0, { type: "text", text: "" }),
  { type: "ping" },
  delta(0, { type: "text_delta", text: "Hello" }),
  delta(0, { type: "text_delta", text: " é😀" }),
  stopped(0),
];

describe("a stream", () => {
  beforeEach(() => {
    next.type = "text/event-stream";
  });
  const chunks = (text: string) => {
    // A ping becomes an empty comment.
    const events = text.split("\n\n").filter((event) => event !== "" && event !== ":");
    expect(events.pop()).toBe("data: [DONE]");
    return events.map((event) => JSON.parse(event.slice("data: ".length)));
  };
  const deltas = (text: string) => chunks(text).map(({ choices }) => choices[0]?.delta);

  it("contains text", async () => {
    next.body = sse(...TEXT, ...finished("end_turn"));
    const { text, end } = await call({ stream: true });
    expect(received.body.stream).toBe(true);
    const all = chunks(text);
    expect(all[0]).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_800_000_000,
      model: "claude-x-1",
      choices: [
        {
          index: 0,
          delta: { role: "assistant", content: "" },
          logprobs: null,
          finish_reason: null,
        },
      ],
    });
    expect(deltas(text)).toEqual([
      { role: "assistant", content: "" },
      { content: "Hello" },
      { content: " é😀" },
      {},
    ]);
    expect(all.map(({ choices }) => choices[0].finish_reason)).toEqual([null, null, null, "stop"]);
    expect(end.usage).toMatchObject({ promptTokens: 100, cachedTokens: 85, completionTokens: 7 });
  });

  it("contains usage if the client requests it", async () => {
    next.body = sse(...TEXT, ...finished("max_tokens"));
    const { text } = await call({ stream: true, stream_options: { include_usage: true } });
    expect(chunks(text).at(-1)).toMatchObject({ choices: [], usage: OPENAI_USAGE });
    expect(chunks(text).at(-2).choices[0].finish_reason).toBe("length");
  });

  it("contains thoughts, text and two calls of tools, numbered from 0", async () => {
    next.body = sse(
      start,
      block(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "s" }),
      stopped(0),
      block(1, { type: "tool_use", id: "toolu_1", name: "weather", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: "" }),
      delta(1, { type: "input_json_delta", partial_json: '{"city":' }),
      delta(1, { type: "input_json_delta", partial_json: '"Paris"}' }),
      stopped(1),
      block(2, { type: "tool_use", id: "toolu_2", name: "now", input: {} }),
      stopped(2),
      ...finished("tool_use"),
    );
    const { text } = await call({ stream: true });
    expect(deltas(text).slice(1, -1)).toEqual([
      { reasoning_content: "hm" },
      {
        tool_calls: [
          {
            index: 0,
            id: "toolu_1",
            type: "function",
            function: { name: "weather", arguments: "" },
          },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] },
      {
        tool_calls: [
          { index: 1, id: "toolu_2", type: "function", function: { name: "now", arguments: "" } },
        ],
      },
      { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
    ]);
    expect(chunks(text).at(-1).choices[0].finish_reason).toBe("tool_calls");
  });

  it("with a schema becomes text that follows the schema", async () => {
    next.body = sse(
      start,
      block(0, { type: "tool_use", id: "t", name: "count", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"n":' }),
      delta(0, { type: "input_json_delta", partial_json: "3}" }),
      stopped(0),
      ...finished("tool_use"),
    );
    const { text } = await call({ stream: true, ...JSON_FORMAT });
    expect(
      deltas(text)
        .map((said) => said.content ?? "")
        .join(""),
    ).toBe('{"n":3}');
    expect(chunks(text).at(-1).choices[0].finish_reason).toBe("stop");
  });

  it.each([
    [
      "overloaded",
      sse(...TEXT, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      { code: "status", status: 529, message: "anthropic answered 529: Overloaded" },
    ],
    ["cut", sse(...TEXT), { code: "broken", message: "anthropic sent an incomplete answer" }],
    ["broken", `${sse(...TEXT)}event: x\ndata: {"type"\n\n`, { code: "broken" }],
    ["no stream", "<html>", { code: "broken" }],
  ])("that is broken ends in an error: %s", async (_, body, expected) => {
    next.body = body;
    await expect(call({ stream: true })).rejects.toMatchObject({ fault: "upstream", ...expected });
  });
});

describe("errors", () => {
  it("about the request are in OpenAI's format", async () => {
    next = {
      ...next,
      status: 400,
      body: '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too large"}}',
    };
    const error = await call().catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400, fault: "request", clientStatus: 400 });
    expect(JSON.parse(error.toJson())).toEqual({
      error: {
        message: "max_tokens: too large",
        type: "invalid_request_error",
        param: null,
        code: "invalid_request_error",
      },
    });
  });

  it("contain the time to wait", async () => {
    next = { ...next, status: 429, body: "{}", headers: { "retry-after": "3" } };
    await expect(call()).rejects.toMatchObject({ status: 429, retryAfter: 3000, retryable: true });
  });

  it("report a signature that cannot be restored as an error of the request", async () => {
    const block = '{"type":"thinking","thinking":"","signature":"joust1.messages..m.s"}';
    const body = `{"messages":[{"role":"assistant","content":[${block}]}],"temperature":1e999}`;
    const request = { endpoint: "messages", body: Buffer.from(body), model: "m", stream: false };
    await expect(
      upstream.call(request as UpstreamRequest, new AbortController().signal),
    ).rejects.toMatchObject({ name: "UpstreamError", fault: "request", clientStatus: 400 });
  });

  it("report an unsupported request before anything is sent", async () => {
    await expect(call({}, "embeddings")).rejects.toMatchObject({
      code: "request",
      message: "anthropic does not support the request: it has no embeddings",
      hint: "use a model of another provider",
    });
    await expect(call({ n: 3 })).rejects.toMatchObject({
      code: "request",
      clientStatus: 400,
      elsewhere: true,
    });
  });
});
