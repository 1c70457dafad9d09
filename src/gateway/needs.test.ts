import { expect, it } from "vitest";
import { type ChatRequest, lackOf, needsOf } from "./needs.ts";

const needs = (request: Partial<ChatRequest>) => {
  const messages = request.messages ?? [{ role: "user", content: "hello" }];
  return needsOf({ ...request, messages }, JSON.stringify(messages).length);
};

it("plain text needs nothing but a little room", () => {
  expect(needs({})).toEqual({ vision: false, tools: false, jsonSchema: false, tokens: 9 });
  expect(lackOf({ vision: false, tools: false, jsonSchema: false }, needs({}))).toBeUndefined();
});

it("pictures need vision, and their bytes are no text", () => {
  const image_url = { url: `data:image/png;base64,${"A".repeat(1e6)}` };
  const found = needs({
    messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
  });
  expect(found.vision).toBe(true);
  expect(found.tokens).toBeLessThan(50);
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
  const { tokens } = needs({ messages, max_tokens: 500 });
  expect(tokens).toBeGreaterThan(1500);
  expect(lackOf({ context: 1000 }, needs({ messages }))).toMatch(/^has room for 1000 tokens/);
  expect(lackOf({ context: 2000 }, needs({ messages }))).toBeUndefined();
  expect(lackOf({ context: 2000 }, needs({ messages, max_completion_tokens: 1500 }))).toBeDefined();
});
