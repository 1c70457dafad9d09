import { describe, expect, it } from "vitest";
import { PATHS, REQUESTS, startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

// biome-ignore lint/suspicious/noExplicitAny: an assertion fails if the shape is wrong
type Any = any;

/** Answers that end in the same way, once as an upstream of chat completions writes them and once as Anthropic does. */
const ENDS: Readonly<Record<string, { readonly chat: Any; readonly messages: Any }>> = {
  "with a stop sequence": {
    chat: { delta: { content: "Hello." }, finish: "stop" },
    messages: { texts: ["Hello."], stop: { stop_reason: "stop_sequence", stop_sequence: "END" } },
  },
  "with a refusal": {
    chat: { delta: { content: null, refusal: "I cannot." }, finish: "stop" },
    messages: { texts: ["I cannot."], stop: { stop_reason: "refusal", stop_sequence: null } },
  },
  "with a filter": {
    chat: { delta: { content: "I can" }, finish: "content_filter" },
    messages: { texts: ["I can"], stop: { stop_reason: "end_turn", stop_sequence: null } },
  },
  "without a text": {
    chat: { delta: { content: "" }, finish: "content_filter" },
    messages: { texts: [], stop: { stop_reason: "refusal", stop_sequence: null } },
  },
  "at the end of the context": {
    chat: { delta: { content: "Hel" }, finish: "length" },
    messages: {
      texts: ["Hel"],
      stop: { stop_reason: "model_context_window_exceeded", stop_sequence: null },
    },
  },
  "with a pause, after two texts": {
    chat: { delta: { content: "Hello." }, finish: "stop" },
    messages: { texts: ["Hel", "lo."], stop: { stop_reason: "pause_turn", stop_sequence: null } },
  },
};

const COMMON_REASONS = ["stop", "length", "end_turn", "max_tokens", "completed", "incomplete"];

function chatAnswer({ delta, finish }: Any, stream: boolean): object {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const head = { id: "chatcmpl-up", model: "up" };
  const choice = { index: 0, finish_reason: finish };
  if (!stream) {
    const message = { role: "assistant", ...delta };
    return { ...head, object: "chat.completion", choices: [{ ...choice, message }], usage };
  }
  return [
    { ...head, choices: [{ index: 0, delta: { role: "assistant", ...delta } }] },
    { ...head, choices: [{ ...choice, delta: {} }] },
    { ...head, choices: [], usage },
  ];
}

function messagesAnswer({ texts, stop }: Any, stream: boolean): object {
  const usage = { input_tokens: 3, output_tokens: 4 };
  const head = { id: "msg_up", type: "message", role: "assistant", model: "up", usage };
  const blocks = texts.map((text: string) => ({ type: "text", text }));
  if (!stream) return { ...head, content: blocks, ...stop };
  return [
    { type: "message_start", message: { ...head, content: [], stop_reason: null } },
    ...blocks.flatMap(({ text }: Any, index: number) => [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index, delta: { type: "text_delta", text } },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: stop, usage: { output_tokens: 4 } },
    { type: "message_stop" },
  ];
}

function eventsIn(text: string): Any[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));
}

/** Content and reason of the end of both answers of a duel, as a client reads them. */
const READERS: Readonly<
  Record<DialectName, { whole(json: Any): Any[]; stream(text: string): Any[] }>
> = {
  chat: {
    whole: ({ choices }) => choices.map(({ index: _, ...choice }: Any) => choice),
    stream: (text) => {
      const choices = eventsIn(text).flatMap((event) => event.choices);
      return [0, 1].map((place) => {
        const own = choices.filter(({ index }) => index === place);
        const members = new Set(own.flatMap(({ delta }) => Object.keys(delta)));
        const content = own.map(({ delta }) => delta.content ?? "").join("");
        return { ...own.at(-1), index: 0, members: [...members].toSorted(), content };
      });
    },
  },
  messages: {
    whole: ({ joust, ...first }) => [first, joust.second].map(messageEnd),
    stream: (text) => {
      const events = eventsIn(text);
      const content: Any[] = [];
      for (const { type, index, content_block, delta } of events) {
        if (type === "content_block_start") content[index] = { ...content_block };
        else if (type === "content_block_delta") content[index].text += delta.text;
      }
      const last = events.find(({ type }) => type === "message_delta");
      return [{ ...last.delta, content }, last.joust.second].map(messageEnd);
    },
  },
  responses: {
    whole: ({ joust, ...first }) => [first, joust.second].map(responseEnd),
    stream: (text) => READERS.responses.whole(eventsIn(text).at(-1).response),
  },
};

const messageEnd = ({ content, stop_reason, stop_sequence }: Any) => ({
  ...{ content, stop_reason, stop_sequence },
});
const responseEnd = ({ output, status, incomplete_details }: Any) => ({
  ...{ output, status, incomplete_details },
});

describe.each(Object.keys(PATHS) as DialectName[])("a duel for a client of %s", (client) => {
  describe.each(Object.keys(ENDS))("whose answers end %s", (end) => {
    it.each([false, true])("does not reveal their upstreams (stream: %s)", async (stream) => {
      const host = await startDialectUpstream();
      host.answer = ({ body }, dialect) => {
        const isStream = body.stream === true;
        const { chat, messages } = ENDS[end]!;
        return {
          body:
            dialect === "chat" ? chatAnswer(chat, isStream) : messagesAnswer(messages, isStream),
        };
      };
      const { post } = await startGateway(
        `${host.yaml}routers: {auto: {models: [chat-model, messages-model]}}\n`,
      );
      const response = await post(PATHS[client], {
        ...{ model: "auto", ...REQUESTS[client], stream, joust: { duel: true } },
      });
      const reader = READERS[client];
      const [first, second] = stream ? reader.stream(response.text) : reader.whole(response.json);
      expect(first).toEqual(second);
      const reasons = [
        ...JSON.stringify(first).matchAll(/"(finish_reason|stop_reason|status)":"(\w+)"/g),
      ];
      expect(reasons.length).toBeGreaterThan(0);
      for (const [, , reason] of reasons) expect(COMMON_REASONS).toContain(reason);
      expect(JSON.stringify(first)).not.toMatch(/"refusal":"|"type":"refusal"|content_filter/);
    });
  });
});
