import { expect, it } from "vitest";
import { type ChatRequest, lackOf, needsOf } from "../../providers/capabilities.ts";

const needs = (request: Partial<ChatRequest>) => {
  const messages = request.messages ?? [{ role: "user", content: "hello" }];
  return needsOf({ ...request, messages }, JSON.stringify(messages).length);
};

it("plain text needs nothing but a little room", () => {
  expect(needs({})).toEqual({
    vision: false,
    tools: false,
    jsonSchema: false,
    promptTokens: 9,
    answerTokens: undefined,
  });
  expect(lackOf({ vision: false, tools: false, jsonSchema: false }, needs({}))).toBeUndefined();
});

it("pictures need vision, and their bytes are no text", () => {
  const image_url = { url: `data:image/png;base64,${"A".repeat(1e6)}` };
  const found = needs({
    messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
  });
  expect(found.vision).toBe(true);
  expect(found.promptTokens).toBeLessThan(50);
  expect(lackOf({ vision: false }, found)).toBe("takes no images");
  expect(lackOf({}, found)).toBeUndefined();
});

it("tools, functions and a schema are needs; empty lists are none", () => {
  expect(needs({ tools: [], functions: [] }).tools).toBe(false);
  expect(needs({ functions: [{ name: "f" }] }).tools).toBe(true);
  expect(lackOf({ tools: false }, needs({ tools: [{ type: "function" }] }))).toBe("calls no tools");
  expect(needs({ response_format: { type: "json_object" } }).jsonSchema).toBe(false);
  const schema = needs({ response_format: { type: "json_schema" } });
  expect(lackOf({ jsonSchema: false }, schema)).toBe("follows no JSON schema");
});

it("room is for prompt and answer together", () => {
  const messages = [{ role: "user", content: "x".repeat(4000) }];
  const found = needs({ messages, max_tokens: 500 });
  expect(found.promptTokens).toBeGreaterThan(1000);
  expect(found.answerTokens).toBe(500);
  expect(lackOf({ context: 1000 }, needs({ messages }))).toMatch(/^has room for 1000 tokens/);
  expect(lackOf({ context: 2000 }, needs({ messages }))).toBeUndefined();
  expect(lackOf({ context: 2000 }, needs({ messages, max_completion_tokens: 1500 }))).toBeDefined();
});

it("sound and files are no text either, and no picture", () => {
  const data = "A".repeat(1e6);
  const content = [
    { type: "input_audio", input_audio: { data, format: "wav" } },
    { type: "file", file: { filename: "a.pdf", file_data: data } },
  ];
  const found = needs({ messages: [{ role: "user", content }] });
  expect(found.vision).toBe(false);
  expect(found.promptTokens).toBeLessThan(100);
});
