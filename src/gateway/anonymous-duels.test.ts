import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";
import { isRecord } from "./wire/json.ts";

const CITY = '{"city":"Lima"}';

/** The same answer of each dialect, with everything that could reveal its upstream. */
const WHOLE: Readonly<Record<DialectName, object>> = {
  chat: {
    id: "chatcmpl-up",
    object: "chat.completion",
    model: "up",
    system_fingerprint: "fp_up",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "I see.",
          refusal: null,
          reasoning_content: "Lima, then.",
          reasoning_details: [{ type: "reasoning.encrypted", data: "c2lnbg" }],
          tool_calls: [
            { id: "call_up", type: "function", function: { name: "weather", arguments: CITY } },
          ],
        },
        finish_reason: "tool_calls",
        native_finish_reason: "tool_use",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  },
  messages: {
    id: "msg_up",
    type: "message",
    role: "assistant",
    model: "up",
    content: [
      { type: "redacted_thinking", data: "c2lnbg" },
      { type: "thinking", thinking: "Lima, then.", signature: "c2lnbg" },
      { type: "text", text: "I see." },
      { type: "tool_use", id: "toolu_up", name: "weather", input: { city: "Lima" } },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  responses: {
    id: "resp_up",
    object: "response",
    status: "completed",
    model: "up",
    output: [
      {
        type: "reasoning",
        id: "rs_up",
        summary: [{ type: "summary_text", text: "Lima, then." }],
        encrypted_content: "c2lnbg",
      },
      {
        type: "message",
        id: "msg_up",
        role: "assistant",
        status: "completed",
        phase: "final_answer",
        content: [{ type: "output_text", text: "I see.", annotations: [] }],
      },
      {
        type: "function_call",
        id: "fc_up",
        call_id: "call_up2",
        name: "weather",
        arguments: CITY,
        status: "completed",
      },
    ],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  },
};

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-up",
  choices: [{ index: 0, delta, finish_reason, content_filter_results: {} }],
});
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const STREAMS: Readonly<Record<"chat" | "messages", readonly object[]>> = {
  chat: [
    chunk({ role: "assistant", reasoning_content: "Lima, then." }),
    chunk({ content: "I see." }),
    chunk({
      tool_calls: [
        {
          index: 0,
          id: "call_up",
          type: "function",
          function: { name: "weather", arguments: CITY },
        },
      ],
    }),
    chunk({}, "tool_calls"),
  ],
  messages: [
    { type: "message_start", message: { ...WHOLE.messages, content: [] } },
    ...block(0, { type: "redacted_thinking", data: "c2lnbg" }),
    ...block(
      1,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Lima, then." },
      { type: "signature_delta", signature: "c2lnbg" },
    ),
    ...block(2, { type: "text", text: "" }, { type: "text_delta", text: "I see." }),
    ...block(
      3,
      { type: "tool_use", id: "toolu_up", name: "weather", input: {} },
      { type: "input_json_delta", partial_json: CITY },
    ),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 4 } },
    { type: "message_stop" },
  ],
};

/** A call of a tool in one chunk, without the index that most upstreams write. */
const WHOLE_CHAT_CALL = {
  tool_calls: [{ id: "call_up", type: "function", function: { name: "weather", arguments: CITY } }],
};

/** Texts of upstreams that would reveal them. */
const REVEALING = /_up|c2lnbg|fp_|native_finish|content_filter_results|redacted|phase|-up"/;

/** The text of a response without vote tokens, whose random letters may look like a text of an upstream. */
function withoutTokens(text: string): string {
  return text.replaceAll(/"vote_token":"[^"]*"/g, "");
}

const PATHS = { chat: "chat/completions", responses: "responses", messages: "messages" } as const;
const DIALECTS = Object.keys(PATHS) as DialectName[];
const messages = [{ role: "user", content: "Hi" }];
const duelOf = (dialect: DialectName, more: object = {}) => ({
  model: "auto",
  ...(dialect === "responses" ? { input: "Hi" } : { max_tokens: 9, messages }),
  joust: { duel: true },
  ...more,
});

async function startDuels(pair: readonly DialectName[]) {
  const host = await startDialectUpstream();
  host.answer = ({ body }, dialect) => {
    if (!body.stream) return { body: WHOLE[dialect] };
    const events = STREAMS[dialect as keyof typeof STREAMS];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    return { body: dialect === "chat" ? `${text}data: [DONE]\n\n` : text };
  };
  const models = pair.map((name) => `${name}-model`).join(", ");
  const gateway = await startGateway(`${host.yaml}routers: {auto: {models: [${models}]}}\n`);
  return { host, gateway };
}

/** The answer without its slot number, which is part of the ids of its calls. */
function withoutSlot(answer: object): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(/(call_\w+)_[01]_/g, "$1_"));
}

describe.each(DIALECTS)("a duel for a client of %s", (client) => {
  it.each([
    ["chat", "messages"],
    ["chat", "responses"],
    ["messages", "responses"],
  ] as const)("does not reveal which answer is of %s and which of %s", async (...pair) => {
    const { gateway } = await startDuels(pair);
    const { json, text } = await gateway.post(`/v1/${PATHS[client]}`, duelOf(client));
    expect(json.joust.duel).toBe(true);
    expect(text).toContain("Lima, then.");
    const { joust, ...shown } = json;
    expect(withoutTokens(JSON.stringify(json))).not.toMatch(REVEALING);
    const content = (answer: object) => {
      if ("choices" in answer) return answer.choices;
      return "output" in answer ? answer.output : "content" in answer && answer.content;
    };
    const [first, second] =
      client === "chat"
        ? json.choices.map(({ index: _, ...choice }: { index: number }) => choice)
        : [content(shown), content(joust.second)];
    expect(withoutSlot(first)).toEqual(withoutSlot(second));
  });

  it("is anonymous in a stream", async () => {
    const { gateway } = await startDuels(["chat", "messages"]);
    const body = duelOf(client, { stream: true });
    const { text } = await gateway.post(`/v1/${PATHS[client]}`, body);
    expect(withoutTokens(text)).not.toMatch(REVEALING);
    expect(text.match(/Lima, then\./g)!.length).toBeGreaterThanOrEqual(2);
  });
});

describe("the chunks of a streamed duel", () => {
  const written = (text: string) => {
    const chunks = text.split("\n\n").flatMap((event) => {
      const data = event.slice("data: ".length);
      return data.startsWith("{") ? [JSON.parse(data)] : [];
    });
    const choices = chunks.flatMap((one) => one.choices) as { index: number }[];
    return [0, 1].map((place) =>
      choices.filter(({ index }) => index === place).map(({ index: _, ...rest }) => rest),
    );
  };

  it.each(["plain", "with logprobs", "in few chunks"])(
    "have the same form for a translated answer and one that is not: %s",
    async (form) => {
      const { gateway, host } = await startDuels(["chat", "messages"]);
      const logprobs = { content: [{ token: "I see.", logprob: -0.1 }] };
      const chat = {
        plain: STREAMS.chat,
        "with logprobs": STREAMS.chat.map((event) =>
          JSON.parse(JSON.stringify(event), (key, value) =>
            key === "choices" ? [{ ...value[0], logprobs }] : value,
          ),
        ),
        "in few chunks": [
          chunk({ role: "assistant", content: "", refusal: null }),
          chunk({ reasoning: "Lima, then.", content: "I see." }),
          chunk(WHOLE_CHAT_CALL, "tool_calls"),
        ],
      }[form]!;
      const { answer } = host;
      const events = chat.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      host.answer = (request, dialect) =>
        dialect === "chat" ? { body: `${events}data: [DONE]\n\n` } : answer(request, dialect);
      const body = duelOf("chat", { stream: true });
      const { text } = await gateway.post("/v1/chat/completions", body);
      const [first, second] = written(text);
      expect(first!.length).toBeGreaterThan(4);
      expect(withoutSlot(first!)).toEqual(withoutSlot(second!));
    },
  );
});

it.each([
  [{ logprobs: true }, "logprobs"],
  [{ modalities: ["text", "audio"] }, "modalities"],
  [{ web_search_options: {} }, "web_search_options"],
])("there is no duel if the request has %o", async (more, member) => {
  const { gateway } = await startDuels(["chat", "messages"]);
  const { json } = await gateway.post("/v1/chat/completions", duelOf("chat", more));
  expect(json.choices).toHaveLength(1);
  expect(json.joust).toMatchObject({ duel: false, because: expect.stringContaining(member) });
});

it("the reasoning of a duel is removed when the conversation goes on", async () => {
  const { gateway, host } = await startDuels(["messages", "responses"]);
  const { json } = await gateway.post("/v1/messages", duelOf("messages"));
  const call = json.content.find((item: unknown) => isRecord(item) && item.type === "tool_use");
  const next = {
    model: "messages-model",
    max_tokens: 9,
    thinking: { type: "enabled", budget_tokens: 1024 },
    messages: [
      ...messages,
      { role: "assistant", content: json.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "warm" }] },
    ],
  };
  expect((await gateway.post("/v1/messages", next)).status).toBe(200);
  const { body } = host.received.at(-1)!;
  expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual([
    "text",
    "tool_use",
  ]);
  expect(body.thinking).toBeUndefined();
});
