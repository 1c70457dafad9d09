import { describe, expect, it } from "vitest";
import type { Item } from "../items/item.ts";
import type { ItemRequest } from "../items/request.ts";
import { meetRequirements } from "../requirements.ts";
import { messagesCodec } from "./codec.ts";

const said = (role: "user" | "assistant" | "system", text: string): Item => ({
  type: "message",
  role,
  content: [{ type: "text", text }],
});
const call: Item = { type: "function_call", callId: "c", name: "f", arguments: "{}" };
const output: Item = { type: "function_call_output", callId: "c", output: [] };
const thought: Item = { type: "reasoning", summary: ["s"], text: [], signature: "x" };
const high = { enabled: true, effort: "high" };
const tool = { type: "function", name: "f" } as const;

/** The request as Anthropic gets it. */
function sent(request: Partial<ItemRequest>) {
  const items = request.items ?? [said("user", "hi")];
  return messagesCodec.writeRequest(
    meetRequirements({ model: "m", stream: false, ...request, items }, "messages"),
  );
}

describe("Anthropic's requirements", () => {
  it.each<[string, Partial<ItemRequest>, object]>([
    ["a temperature above 1", { temperature: 1.5 }, { temperature: 1 }],
    [
      "temperature and top_p",
      { temperature: 0.5, topP: 0.9 },
      { temperature: 0.5, top_p: undefined },
    ],
    [
      "temperature 1 and top_p",
      { temperature: 1, topP: 0.9 },
      { temperature: undefined, top_p: 0.9 },
    ],
    [
      "sampling while thinking",
      { reasoning: high, temperature: 0.5, topK: 4 },
      { temperature: undefined, top_k: undefined, thinking: { type: "adaptive" } },
    ],
    ["stop of white space", { stop: ["\n", "x"] }, { stop_sequences: ["x"] }],
    ["only white space", { stop: ["\n"] }, { stop_sequences: undefined }],
    [
      "the assistant begins",
      { items: [said("system", "s"), said("assistant", "a"), said("user", "u")] },
      {
        messages: [
          { role: "user", content: "." },
          { role: "assistant", content: "a" },
          { role: "user", content: "u" },
        ],
      },
    ],
    [
      "white space at the end",
      { items: [said("user", "u"), said("assistant", "a \n")] },
      {
        messages: [
          { role: "user", content: "u" },
          { role: "assistant", content: "a" },
        ],
      },
    ],
    [
      "calls without tools",
      { items: [said("user", "u"), call, output] },
      { tools: [{ name: "f", input_schema: { type: "object" } }], tool_choice: { type: "none" } },
    ],
    ["a choice without tools", { toolChoice: { mode: "auto" } }, { tool_choice: undefined }],
    [
      "a schema of arguments without a type",
      { tools: [{ type: "function", name: "f", parameters: { properties: {} } }] },
      { tools: [{ name: "f", input_schema: { type: "object", properties: {} } }] },
    ],
    [
      "thinking and a forced tool",
      { reasoning: high, tools: [tool], toolChoice: { mode: "required" } },
      { thinking: { type: "disabled" }, output_config: undefined },
    ],
    [
      "thinking in a loop that began without it",
      { reasoning: high, tools: [tool], items: [said("user", "u"), call, output] },
      { thinking: { type: "disabled" } },
    ],
    [
      "thinking in a loop that began with it",
      { reasoning: high, tools: [tool], items: [said("user", "u"), thought, call, output] },
      { thinking: { type: "adaptive" } },
    ],
    [
      "thinking after a loop",
      {
        reasoning: high,
        tools: [tool],
        items: [said("user", "u"), call, output, said("assistant", "a"), said("user", "v")],
      },
      { thinking: { type: "adaptive" } },
    ],
    [
      "a budget above the limit",
      { reasoning: { enabled: true, budget: 2000 }, maxTokens: 1000 },
      { max_tokens: 3000, thinking: { type: "enabled", budget_tokens: 2000 } },
    ],
    [
      "a tiny budget",
      { reasoning: { enabled: true, budget: 50 }, maxTokens: 5000 },
      { thinking: { budget_tokens: 1024 } },
    ],
    [
      "JSON without a schema",
      { output: { type: "json_object" } },
      { system: "Give the final answer as one JSON object and nothing else." },
    ],
  ])("%s", (_, request, expected) => {
    expect(sent(request)).toMatchObject(expected);
  });

  it("a request that meets them is not changed", () => {
    const request: ItemRequest = {
      model: "m",
      stream: true,
      items: [said("user", "u"), thought, call, output],
      tools: [tool],
      reasoning: high,
      maxTokens: 5000,
      stop: ["x"],
    };
    expect(meetRequirements(request, "messages")).toEqual(request);
  });
});
