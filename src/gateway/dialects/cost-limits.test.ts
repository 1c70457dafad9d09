import { describe, expect, it } from "vitest";
import { scanObject } from "../wire/json.ts";
import { costLimits } from "./cost-limits.ts";

type Endpoint = Parameters<typeof costLimits>[0]["endpoint"];

const json = (body: object) => Buffer.from(JSON.stringify(body));
const limitsOf = (endpoint: Endpoint, body: object) =>
  costLimits({ endpoint, members: scanObject(json(body)) });
const chatOf = (...content: object[]) => ({ messages: [{ role: "user", content }] });

const DATA = "A".repeat(5000);
const URL = `data:image/png;base64,${DATA}`;

describe("attachments", () => {
  it.each<[Endpoint, object, number]>([
    ["chat/completions", chatOf({ type: "image_url", image_url: { url: URL } }), 1],
    ["chat/completions", chatOf({ type: "image_url", image_url: { url: "https://a.b/c.png" } }), 1],
    [
      "responses",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: URL }] }] },
      1,
    ],
    [
      "responses",
      {
        input: [
          { type: "computer_call_output", output: { type: "computer_screenshot", image_url: URL } },
        ],
      },
      1,
    ],
    [
      "messages",
      chatOf({
        type: "tool_result",
        content: [
          { type: "image", source: { type: "base64", data: DATA } },
          { type: "image", source: { type: "url", url: "https://a.b/c.png" } },
        ],
      }),
      2,
    ],
  ])("of %s are images that count apart from the text: %j", (endpoint, body, images) => {
    const { text, ...rest } = limitsOf(endpoint, body).prompt;
    expect(rest).toEqual({ images, isFull: false });
    expect(text).toBeLessThan(400);
    expect(text).toBeGreaterThan(50);
  });

  const PDF = { type: "base64", media_type: "application/pdf", data: DATA };
  it.each<[Endpoint, object]>([
    ["chat/completions", chatOf({ type: "input_audio", input_audio: { data: DATA } })],
    ["chat/completions", chatOf({ type: "file", file: { file_data: DATA } })],
    ["chat/completions", chatOf({ type: "video_url", video_url: { url: "https://a.b/c.mp4" } })],
    ["chat/completions", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }],
    [
      "responses",
      { input: [{ content: [{ type: "input_file", file_url: "https://a.b/c.pdf" }] }] },
    ],
    ["responses", { input: [{ content: [{ type: "input_file", file_data: DATA }] }] }],
    ["messages", chatOf({ type: "document", source: PDF })],
    ["messages", chatOf({ type: "document", source: { type: "file", file_id: "file_1" } })],
    ["responses", { input: "Hi", conversation: "conv_1" }],
    ["responses", { input: "Hi", prompt: { id: "pmpt_1" } }],
    ["embeddings", { input: [{ image: DATA }] }],
  ])("of %s may fill the context: %j", (endpoint, body) => {
    expect(limitsOf(endpoint, body).prompt).toMatchObject({ images: 0, isFull: true });
  });

  it.each<[Endpoint, object]>([
    ["chat/completions", chatOf({ type: "text", text: "Hi", image_url: { url: URL } })],
    ["messages", chatOf({ type: "document", source: { type: "text", data: DATA } })],
    [
      "messages",
      chatOf({ type: "tool_use", input: { content: [{ type: "image", source: PDF }] } }),
    ],
    ["messages", { tools: [{ type: "image", image_url: URL }], ...chatOf() }],
  ])("of %s do not hide text that a model reads: %j", (endpoint, body) => {
    const { text, images, isFull } = limitsOf(endpoint, body).prompt;
    expect([images, isFull]).toEqual([0, false]);
    expect(text).toBeGreaterThan(DATA.length);
  });
});

describe("text", () => {
  it.each(["7".repeat(900), "ᚠ".repeat(300)])("has at most a token per byte: %s", (content) => {
    for (const endpoint of ["chat/completions", "responses", "messages"] as const) {
      const body = { input: content, messages: [{ role: "user", content }] };
      expect(limitsOf(endpoint, body).prompt.text).toBeGreaterThanOrEqual(1800);
    }
    expect(limitsOf("embeddings", { input: content }).prompt.text).toBeGreaterThanOrEqual(900);
  });

  it.each<[Endpoint, string]>([
    ["completions", "prompt"],
    ["embeddings", "input"],
  ])("as token numbers for %s has a token per number", (endpoint, member) => {
    const numbers = Array<number>(400).fill(123456);
    const of = (value: unknown) => limitsOf(endpoint, { model: "m", [member]: value });
    const one = of(numbers);
    expect(one.prompts).toBe(1);
    expect(one.prompt.text).toBeGreaterThanOrEqual(400);
    expect(one.prompt.text).toBeLessThan(450);
    const three = of([numbers, numbers, numbers]);
    expect(three.prompts).toBe(3);
    expect(three.prompt.text - one.prompt.text).toBe(800);
    const texts = of(["a".repeat(400), "b"]);
    expect(texts.prompts).toBe(2);
    expect(texts.prompt.text).toBeGreaterThanOrEqual(401);
  });
});

it.each<[Endpoint, object, number]>([
  ["chat/completions", { thinking: { type: "enabled", budget_tokens: 9000 } }, 9000],
  // The translation raises a budget to the least that Messages accepts.
  ["chat/completions", { thinking: { type: "enabled", budget_tokens: 1 } }, 1024],
  ["chat/completions", { thinking_budget: 7000 }, 7000],
  ["chat/completions", { reasoning_effort: "high" }, 0],
  ["messages", { thinking: { type: "enabled", budget_tokens: 9000 } }, 0],
])("the thinking of %s with %j adds %i tokens to an answer", (endpoint, body, tokens) => {
  expect(limitsOf(endpoint, { messages: [], max_tokens: 10, ...body })).toMatchObject({
    answerTokens: 10,
    thinkingTokens: tokens,
  });
});
