import { expect, it } from "vitest";
import { lackOf } from "../../providers/capabilities.ts";
import { scanObject } from "../../wire/json.ts";
import { readConversation } from "./request.ts";

const needs = (request: object) => {
  const body = { messages: [{ role: "user", content: "hello" }], ...request };
  return readConversation(scanObject(Buffer.from(JSON.stringify(body))), {}).needs;
};

it("needs only a small context for plain text", () => {
  expect(needs({})).toEqual({
    vision: false,
    tools: false,
    jsonSchema: false,
    promptTokens: 9,
    answerTokens: undefined,
  });
  expect(lackOf({ vision: false, tools: false, json_schema: false }, needs({}))).toBeUndefined();
});

it("needs vision for images and does not count their bytes as text", () => {
  const image_url = { url: `data:image/png;base64,${"A".repeat(1e6)}` };
  const found = needs({
    messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
  });
  expect(found.vision).toBe(true);
  expect(found.promptTokens).toBeLessThan(50);
  expect(lackOf({ vision: false }, found)).toBe("accepts no images");
  expect(lackOf({}, found)).toBeUndefined();
});

it("needs tools for tools and functions, unless their lists are empty, and a schema for json_schema", () => {
  expect(needs({ tools: [], functions: [] }).tools).toBe(false);
  expect(needs({ functions: [{ name: "f" }] }).tools).toBe(true);
  expect(lackOf({ tools: false }, needs({ tools: [{ type: "function" }] }))).toBe(
    "supports no tools",
  );
  expect(needs({ response_format: { type: "json_object" } }).jsonSchema).toBe(false);
  const schema = needs({ response_format: { type: "json_schema" } });
  expect(lackOf({ json_schema: false }, schema)).toBe("supports no JSON schema");
});

it("compares the context with prompt and answer together", () => {
  const messages = [{ role: "user", content: "x".repeat(4000) }];
  const found = needs({ messages, max_tokens: 500 });
  expect(found.promptTokens).toBeGreaterThan(1000);
  expect(found.answerTokens).toBe(500);
  expect(lackOf({ context: 1000 }, needs({ messages }))).toMatch(/^has a context of 1000 tokens/);
  expect(lackOf({ context: 2000 }, needs({ messages }))).toBeUndefined();
  expect(lackOf({ context: 2000 }, needs({ messages, max_completion_tokens: 1500 }))).toBeDefined();
});

it("counts tools and schemas as part of the prompt", () => {
  const parameters = { type: "object", description: "x".repeat(4000) };
  for (const more of [
    { tools: [{ type: "function", function: { name: "f", parameters } }] },
    { functions: [{ name: "f", parameters }] },
    { response_format: { type: "json_schema", json_schema: { schema: parameters } } },
  ]) {
    expect(needs(more).promptTokens).toBeGreaterThan(1000);
  }
});

it("counts neither sounds nor files as text or images", () => {
  const data = "A".repeat(1e6);
  const content = [
    { type: "input_audio", input_audio: { data, format: "wav" } },
    { type: "file", file: { filename: "a.pdf", file_data: data } },
  ];
  const found = needs({ messages: [{ role: "user", content }] });
  expect(found.vision).toBe(false);
  expect(found.promptTokens).toBeLessThan(100);
});
