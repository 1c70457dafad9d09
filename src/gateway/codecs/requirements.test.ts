import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { ItemRequest } from "./items/request.ts";
import { REQUIREMENTS, requirementTable } from "./requirements.ts";

it("docs/http.md has the list", () => {
  const file = path.resolve(import.meta.dirname, "../../../docs/http.md");
  expect(readFileSync(file, "utf8")).toContain(requirementTable());
});

/** A request that each change is about, by the first words of its text. */
const EXAMPLES: Readonly<Record<string, Partial<ItemRequest>>> = {
  "`tool_choice` and": { toolChoice: { mode: "auto" } },
  "an id of": { user: "a@".repeat(200) },
  "custom tools become": { tools: [{ type: "function", name: "f", custom: {} }] },
  "`max_output_tokens` is": { maxTokens: 1 },
  "an id that": {
    items: [
      { type: "function_call", callId: "c", name: "f", arguments: "{}" },
      { type: "function_call", callId: "c", name: "f", arguments: "{}" },
    ],
  },
  "texts that are": {
    items: [{ type: "message", role: "assistant", content: [{ type: "text", text: "a " }] }],
  },
  "thinking is off": { reasoning: { enabled: true }, toolChoice: { mode: "required" } },
  "a thinking budget": { reasoning: { enabled: true, budget: 1 }, maxTokens: 9 },
  "`temperature` is at": { temperature: 2 },
  "stop sequences that": { stop: [" "] },
  "if a request": {
    items: [{ type: "function_call", callId: "c", name: "f", arguments: "{}" }],
  },
  "an argument schema": { tools: [{ type: "function", name: "f", parameters: {} }] },
  "the format `json_object`": { output: { type: "json_object" } },
};

const PLAIN: ItemRequest = {
  model: "m",
  stream: false,
  items: [{ type: "message", role: "user", content: [{ type: "text", text: "x" }] }],
};
const sent = (request: ItemRequest) => JSON.stringify(request);

it.each(REQUIREMENTS.map((each) => [each.text, each] as const))("%s", (text, { meet }) => {
  const [, example] = Object.entries(EXAMPLES).find(([start]) => text.startsWith(start)) ?? [];
  expect(example).toBeDefined();
  const request = { ...PLAIN, ...example };
  expect(sent(meet(request))).not.toBe(sent(request));
  expect(sent(meet(PLAIN))).toBe(sent(PLAIN));
});
