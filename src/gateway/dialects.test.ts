import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, startGateway } from "./gateway.fixture.ts";
import { DIALECTS, type DialectName } from "./wire/dialect-names.ts";

/** The same conversation with tools, an image and reasoning in each dialect, and the answers to it. */

const IMAGE = "iVBORw0KGgo=";
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };
const PATHS = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};

/** A request of each dialect; `history` are the wire forms of an answer with a call. */
const REQUESTS: Record<DialectName, (history: object[]) => object> = {
  chat: (history) => ({
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is the weather here?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } },
        ],
      },
      ...history,
      ...history.flatMap(() => [{ role: "tool", tool_call_id: "call_1", content: "21 degrees" }]),
    ],
    max_tokens: 50,
    tools: [{ type: "function", function: { name: "weather", parameters: SCHEMA } }],
    stream_options: { include_usage: true },
  }),
  responses: (history) => ({
    instructions: "Be brief.",
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is the weather here?" },
          { type: "input_image", image_url: `data:image/png;base64,${IMAGE}` },
        ],
      },
      ...history,
      ...(history.length > 0
        ? [{ type: "function_call_output", call_id: "call_1", output: "21 degrees" }]
        : []),
    ],
    max_output_tokens: 50,
    tools: [{ type: "function", name: "weather", parameters: SCHEMA, strict: false }],
  }),
  messages: (history) => ({
    system: "Be brief.",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is the weather here?" },
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: IMAGE },
          },
        ],
      },
      ...history,
      ...history.map(() => ({
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call_1", content: "21 degrees" }],
      })),
    ],
    max_tokens: 50,
    tools: [{ name: "weather", input_schema: SCHEMA }],
  }),
};

/** Reads what the upstream received: system, text, image, tool and result, whatever the dialect. */
function factsOf(body: ReturnType<typeof JSON.parse>) {
  const text = JSON.stringify(body);
  return {
    system: text.includes("Be brief."),
    text: text.includes("What is the weather here?"),
    image: text.includes(IMAGE),
    tool: text.includes('"weather"') && text.includes('"city"'),
    result: text.includes("21 degrees"),
    call: text.includes("call_1"),
    signature: text.includes('"secret"'),
    reasoning: text.includes("I think."),
    limit: body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens,
    stream: body.stream === true,
  };
}

const CALL = '{"city":"Paris"}';
const chatUsage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 };
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: CALL } };
const responsesOutput = [
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "I think." }],
    encrypted_content: "secret",
  },
  {
    type: "message",
    id: "msg_1",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
  },
  { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: CALL },
];
const response = {
  id: "resp_1",
  object: "response",
  created_at: 5,
  status: "completed",
  error: null,
  model: "up",
  output: responsesOutput,
  usage: { input_tokens: 100, output_tokens: 7, total_tokens: 107 },
};
const blocks = [
  { type: "thinking", thinking: "I think.", signature: "secret" },
  { type: "text", text: "Hello" },
  { type: "tool_use", id: "call_1", name: "weather", input: { city: "Paris" } },
];
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up",
  content: blocks,
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 7 },
};

const ANSWERS: Record<DialectName, object> = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 5,
    model: "up",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Hello",
          reasoning_content: "I think.",
          tool_calls: [call],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: chatUsage,
  },
  responses: response,
  messages: message,
};

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 5,
  model: "up",
  choices: [{ index: 0, delta, finish_reason }],
});
const STREAMS: Record<DialectName, object[]> = {
  chat: [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "I think." }),
    chunk({ content: "Hel" }),
    chunk({ content: "lo" }),
    chunk({ tool_calls: [{ index: 0, ...call }] }),
    chunk({}, "tool_calls"),
    { ...chunk({}), choices: [], usage: chatUsage },
  ],
  responses: [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...responsesOutput.flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, content: [], summary: [], arguments: "", encrypted_content: "" },
      },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response },
  ],
  messages: [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap((block, index) => {
      const deltas: Record<string, object[]> = {
        thinking: [
          { type: "thinking_delta", thinking: "I think." },
          { type: "signature_delta", signature: "secret" },
        ],
        text: [{ type: "text_delta", text: "Hello" }],
        tool_use: [{ type: "input_json_delta", partial_json: CALL }],
      };
      const empty: Record<string, object> = {
        thinking: { type: "thinking", thinking: "", signature: "" },
        text: { type: "text", text: "" },
        tool_use: { ...block, input: {} },
      };
      return [
        { type: "content_block_start", index, content_block: empty[block.type] },
        ...deltas[block.type]!.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    }),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: "message_stop" },
  ],
};

/** Text, reasoning, call, stop reason and tokens of an answer, and the wire form for the history. */
const READ: Record<
  DialectName,
  (answer: ReturnType<typeof JSON.parse>) => { facts: object; history: object[] }
> = {
  chat: ({ choices: [{ message: own, finish_reason }], usage }) => ({
    facts: {
      text: own.content,
      reasoning: own.reasoning_content,
      call: own.tool_calls[0].function,
      isCall: finish_reason === "tool_calls",
      tokens: [usage.prompt_tokens, usage.completion_tokens],
    },
    history: [own],
  }),
  responses: ({ output, usage, status }) => {
    const of = (type: string) => output.find((item: { type: string }) => item.type === type);
    const { name, arguments: words } = of("function_call");
    const thought = of("reasoning");
    return {
      facts: {
        text: of("message").content[0].text,
        reasoning: (thought.summary[0] ?? thought.content[0]).text,
        call: { name, arguments: words },
        isCall: status === "completed",
        tokens: [usage.input_tokens, usage.output_tokens],
      },
      history: output,
    };
  },
  messages: ({ content, usage, stop_reason }) => {
    const of = (type: string) => content.find((block: { type: string }) => block.type === type);
    const { name, input } = of("tool_use");
    return {
      facts: {
        text: of("text").text,
        reasoning: of("thinking").thinking,
        call: { name, arguments: JSON.stringify(input) },
        isCall: stop_reason === "tool_use",
        tokens: [usage.input_tokens, usage.output_tokens],
      },
      history: [{ role: "assistant", content }],
    };
  },
};

/** Puts a stream together as a client does. */
const COLLECT: Record<DialectName, (events: ReturnType<typeof eventsOf>) => unknown> = {
  chat: (events) => {
    const deltas = events.flatMap(({ choices }) =>
      choices.map((choice: { delta: object }) => choice.delta),
    );
    const join = (read: (delta: ReturnType<typeof JSON.parse>) => string | undefined) =>
      deltas.map((delta) => read(delta) ?? "").join("");
    const first = deltas.find((delta) => delta.tool_calls)?.tool_calls[0];
    const name = first?.function.name;
    const words = join((delta) => delta.tool_calls?.[0]?.function.arguments);
    return {
      choices: [
        {
          message: {
            role: "assistant",
            content: join((delta) => delta.content),
            reasoning_content: join((delta) => delta.reasoning_content),
            tool_calls: [{ ...first, function: { name, arguments: words } }],
          },
          finish_reason: events.findLast((event) => event.choices[0]?.finish_reason)?.choices[0]
            .finish_reason,
        },
      ],
      usage: events.findLast((event) => event.usage)?.usage,
    };
  },
  responses: (events) => events.at(-1).response,
  messages: (events) => {
    const content: ReturnType<typeof JSON.parse>[] = [];
    for (const { type, index, content_block: block, delta } of events) {
      if (type === "content_block_start") content[index] = { ...block, json: "" };
      if (type !== "content_block_delta") continue;
      const own = content[index];
      if (delta.type === "text_delta") own.text += delta.text;
      if (delta.type === "thinking_delta") own.thinking += delta.thinking;
      if (delta.type === "signature_delta") own.signature += delta.signature;
      if (delta.type === "input_json_delta") own.json += delta.partial_json;
    }
    const last = events.find(({ type }) => type === "message_delta");
    return {
      content: content.map(({ json, ...block }) =>
        block.type === "tool_use" ? { ...block, input: JSON.parse(json) } : block,
      ),
      stop_reason: last.delta.stop_reason,
      usage: { ...events[0].message.usage, ...last.usage },
    };
  },
};

const PAIRS = DIALECTS.flatMap((client) => DIALECTS.map((upstream) => [client, upstream] as const));

describe.each(PAIRS)("a client of %s with a model that speaks %s", (client, upstream) => {
  it.each([
    ["complete", false],
    ["streamed", true],
  ])("gets an answer with reasoning, text and a call, and continues: %s", async (_, stream) => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: stream ? STREAMS[upstream] : ANSWERS[upstream] });
    const routers = `routers: {auto: {models: [${upstream}-model]}}\n`;
    const gateway = await startGateway(`${host.yaml}${routers}`);
    const send = async (history: object[]) => {
      const body = { model: "auto", stream, ...REQUESTS[client](history) };
      const answer = await gateway.post(PATHS[client], body);
      expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
      return READ[client](stream ? COLLECT[client](eventsOf(answer.text)) : answer.json);
    };
    const { facts, history } = await send([]);
    const call = { name: "weather", arguments: CALL };
    expect(facts).toEqual({
      text: "Hello",
      reasoning: "I think.",
      call,
      isCall: true,
      tokens: [100, 7],
    });
    expect(factsOf(host.received[0]!.body)).toMatchObject({
      system: true,
      text: true,
      image: true,
      tool: true,
      limit: 50,
      stream,
    });
    await send(history);
    const next = factsOf(host.received[1]!.body);
    expect(next).toMatchObject({ call: true, result: true });
    // The signature returns to its model unless chat completions, which have none, lie between.
    expect(next.signature).toBe(client !== "chat" && upstream !== "chat");
    if (upstream === "chat" || client !== "chat") expect(next.reasoning).toBe(true);
    expect(JSON.stringify(host.received[1]!.body)).not.toContain("joust1.");
  });

  it("gets errors in its own shape", async () => {
    const host = await startDialectUpstream();
    const gateway = await startGateway(host.yaml);
    const error =
      upstream === "messages"
        ? { type: "error", error: { type: "invalid_request_error", message: "bad temperature" } }
        : { error: { message: "bad temperature", type: "invalid_request_error", param: null } };
    host.answer = () => ({ status: 400, body: error });
    const body = { model: `${upstream}-model`, ...REQUESTS[client]([]) };
    const { status, json } = await gateway.post(PATHS[client], body);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ type: "invalid_request_error" });
    expect(json.error.message).toContain("bad temperature");
    expect(json.type).toBe(client === "messages" ? "error" : undefined);
    expect("param" in json.error).toBe(client !== "messages");
  });
});
