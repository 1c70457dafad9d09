import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { CODECS } from "./codecs.ts";
import { eventsOf } from "./items/accumulate.ts";
import type { Answer } from "./items/answer.ts";
import type { Item } from "./items/item.ts";

/** The official clients read what the codecs write: whole answers, and streams with their own accumulators. */

const text = (words: string): Item => ({
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: words }],
});
const reasoning: Item = {
  type: "reasoning",
  summary: ["First I think."],
  text: [],
  signature: "c2ln",
  origin: { dialect: "messages", model: "m" },
};
const call = (callId: string, args: string): Item => ({
  type: "function_call",
  callId,
  name: "weather",
  arguments: args,
});

const usage = {
  promptTokens: 100,
  cachedTokens: 40,
  cacheWriteTokens: 20,
  cacheWrite1hTokens: 0,
  completionTokens: 30,
  reasoningTokens: 10,
};

const answers: Record<string, Answer> = {
  text: answer([text('Hello "you"\n\u{1F600}')], "end"),
  reasoning: answer([reasoning, text("Hello")], "length"),
  calls: answer(
    [reasoning, text("Let me see."), call("call_1", '{"city":"Paris"}'), call("call_2", "{}")],
    "tool_calls",
  ),
};

function answer(items: Item[], reason: Answer["choices"][number]["stop"]["reason"]): Answer {
  return {
    id: "x_1",
    model: "m",
    created: 1_700_000_000,
    choices: [{ items, stop: { reason } }],
    usage,
  };
}

function stream(dialect: DialectName, of: Answer): string {
  const writer = CODECS[dialect].streamWriter();
  return [...eventsOf(of)].map((event) => writer.write(event)).join("");
}

/** A fetch that answers with this body. */
function answering(body: string | Json): typeof fetch {
  const isStream = typeof body === "string";
  const type = isStream ? "text/event-stream" : "application/json";
  return async () =>
    new Response(isStream ? body : JSON.stringify(body), { headers: { "content-type": type } });
}

const openai = (body: string | Json) =>
  new OpenAI({ apiKey: "none", baseURL: "http://localhost/v1", fetch: answering(body) });
const anthropic = (body: string | Json) =>
  new Anthropic({ apiKey: "none", baseURL: "http://localhost", fetch: answering(body) });
const messages = [{ role: "user" as const, content: "hi" }];

describe.each(Object.entries(answers))("answer %s", (_, of) => {
  it("chat: the client's accumulated stream is the whole answer", async () => {
    const whole = CODECS.chat.writeAnswer(of);
    const client = openai(stream("chat", of));
    const final = await client.chat.completions
      .stream({ model: "m", messages })
      .finalChatCompletion();
    const { message, finish_reason } = final.choices[0]!;
    const read = JSON.parse(
      JSON.stringify({ ...final, choices: [{ index: 0, message, finish_reason }] }),
    );
    expect(CODECS.chat.parseAnswer(read)).toEqual(CODECS.chat.parseAnswer(whole));
  });

  it("responses: the client's accumulated stream is the whole answer", async () => {
    const whole = CODECS.responses.writeAnswer(of);
    const final = await openai(stream("responses", of))
      .responses.stream({ model: "m", input: "hi" })
      .finalResponse();
    const { output_text, ...rest } = JSON.parse(JSON.stringify(final));
    expect(rest).toMatchObject(JSON.parse(JSON.stringify(whole)));
    expect(output_text).toContain("Hello".slice(0, of === answers.calls ? 0 : 5));
    const created = await openai(whole).responses.create({ model: "m", input: "hi" });
    expect(created.output_text).toBe(output_text);
  });

  it("messages: the client's accumulated stream is the whole answer", async () => {
    const whole = CODECS.messages.writeAnswer(of);
    const client = anthropic(stream("messages", of));
    const final = await client.messages
      .stream({ model: "m", max_tokens: 9, messages })
      .finalMessage();
    const read = JSON.parse(JSON.stringify(final));
    expect(CODECS.messages.parseAnswer(read)).toEqual(CODECS.messages.parseAnswer(whole));
    const created = await anthropic(whole).messages.create({ model: "m", max_tokens: 9, messages });
    expect(created).toMatchObject(whole);
  });
});
