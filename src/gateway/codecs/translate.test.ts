import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../wire/dialect-names.ts";
import { CODECS } from "./codecs.ts";
import { eventsOf } from "./items/accumulate.ts";
import type { Answer } from "./items/answer.ts";
import { StreamTranslator, translateAnswer } from "./translate.ts";

/** Codex declares apply_patch as a custom tool; Anthropic's models know only functions. */
const request = CODECS.responses.parseRequest({
  model: "auto",
  stream: true,
  input: "fix it",
  tools: [{ type: "custom", name: "apply_patch" }],
});
const answer = (upstream: DialectName): Answer => ({
  id: "resp_1",
  model: "m",
  created: 1,
  choices: [
    {
      items: [
        { type: "message", role: "assistant", content: [{ type: "text", text: "Done." }] },
        {
          type: "function_call",
          callId: "call_1",
          name: "apply_patch",
          ...(upstream === "messages"
            ? { arguments: '{"input":"*** Begin"}' }
            : { arguments: "*** Begin", custom: true }),
        },
      ],
      stop: { reason: "tool_calls" },
    },
  ],
});

function dataOf(upstream: DialectName): string[] {
  const writer = CODECS[upstream].streamWriter();
  const text = [...eventsOf(answer(upstream))].map((event) => writer.write(event)).join("");
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}

describe.each(DIALECTS)("an answer of %s to a client of Responses", (upstream) => {
  const sides = { upstream, client: "responses", request } as const;
  const call = {
    type: "custom_tool_call",
    call_id: "call_1",
    name: "apply_patch",
    input: "*** Begin",
  };

  it("has the client's custom tool and repeats its settings", () => {
    const body = JSON.parse(JSON.stringify(CODECS[upstream].writeAnswer(answer(upstream))));
    const tools = [{ type: "custom", name: "apply_patch" }];
    expect(translateAnswer(body, sides)).toMatchObject({
      output: [{ type: "message" }, call],
      tools,
    });
  });

  it("is translated while it streams", () => {
    const translator = new StreamTranslator(sides);
    const pieces = dataOf(upstream).map((data) => translator.push(data));
    pieces.push(translator.end());
    const at = pieces.findIndex((piece) => piece.includes("response.output_text.delta"));
    expect(at).toBeGreaterThan(0);
    expect(at).toBeLessThan(pieces.findIndex((piece) => piece.includes("response.completed")));
    const last = pieces.join("").split("data: ").at(-1)!;
    expect(JSON.parse(last).response.output).toMatchObject([{ type: "message" }, call]);
  });
});

describe("an answer of a server that gives no ids", () => {
  const called = { name: "f", arguments: "{}" };
  const calls = [
    { index: 0, function: called },
    { index: 1, id: "", function: called },
  ];
  let ids = 0;
  const newId = () => `new-${++ids}`;
  const idsIn = (text: string) => new Set(text.match(/call_new-\d+/g));

  it.each(["responses", "messages"] as const)("has ids of its own in %s", (client) => {
    const sides = { upstream: "chat", client, request, head: { newId } } as const;
    const chunk = { choices: [{ index: 0, delta: { tool_calls: calls } }] };
    const translator = new StreamTranslator(sides);
    const events = translator.push(JSON.stringify(chunk)) + translator.push("[DONE]");
    expect(idsIn(events).size).toBe(2);
    const message = { role: "assistant", content: "Hi", tool_calls: calls };
    const body = { choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    const answers = [1, 2].map(() => JSON.stringify(translateAnswer(body, sides)));
    expect(idsIn(answers.join("")).size).toBe(4);
    if (client !== "responses") return;
    const items = answers.map((text) => JSON.parse(text).output[0].id);
    expect(new Set(items).size).toBe(2);
  });
});

it("the gateway adds id, time and an estimate of the prompt that the upstream's dialect lacks", () => {
  const usage = {
    promptTokens: 12,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
  };
  const head = { created: 5, usage };
  const sides = { upstream: "chat", client: "messages", request, head } as const;
  const translator = new StreamTranslator(sides);
  const data = '{"id":"chatcmpl-9","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}';
  expect(
    JSON.parse(translator.push(data).split("\n")[1]!.slice("data: ".length)).message,
  ).toMatchObject({
    id: "msg_9",
    model: "m",
    usage: { input_tokens: 12 },
  });
  const body = { id: "chatcmpl-9", model: "m", choices: [] };
  expect(translateAnswer(body, sides)).toMatchObject({ id: "msg_9", usage: { input_tokens: 0 } });
  const chat = { ...sides, upstream: "messages", client: "chat" } as const;
  expect(translateAnswer({ id: "msg_9", content: [] }, chat)).toMatchObject({
    id: "chatcmpl-9",
    created: 5,
  });
  expect(translateAnswer(body, { ...sides, client: "responses" })).toMatchObject({ id: "resp_9" });
});

it("an answer that names an error besides its text keeps its usage and the reason of its end", () => {
  const choice = { index: 0, message: { content: "half" }, finish_reason: "length" };
  const usage = { prompt_tokens: 3, completion_tokens: 5 };
  const body = { id: "c", model: "m", choices: [choice], usage, error: { message: "cut off" } };
  expect(translateAnswer(body, { upstream: "chat", client: "messages", request })).toMatchObject({
    stop_reason: "max_tokens",
    usage: { input_tokens: 3, output_tokens: 5 },
  });
});

it("a complete answer keeps its images between its texts", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const image = { type: "image_url", image_url: { url: "https://host/cat.png" } };
  const content = [image, text("a cat"), image, text("and"), text("another"), image];
  const body = { choices: [{ index: 0, message: { content }, finish_reason: "stop" }] };
  const { content: written } = translateAnswer(body, {
    upstream: "chat",
    client: "messages",
    request,
  });
  const shown = { type: "image", source: { type: "url", url: "https://host/cat.png" } };
  expect(written).toMatchObject([
    ...[shown, text("a cat"), shown, text("and"), text("another"), shown],
  ]);
});
