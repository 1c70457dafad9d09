import { describe, expect, it } from "vitest";
import type { DialectName } from "../wire/dialect-names.ts";
import { StreamTranslator, translateAnswer } from "./translate.ts";
import { translateRequest } from "./translate-request.ts";

function translated(from: DialectName, to: DialectName, body: object) {
  const given = JSON.parse(JSON.stringify({ model: "m", ...body }));
  return translateRequest(given, { from, to, model: "m", requestsUsage: true });
}

const sent = (from: DialectName, to: DialectName, body: object) =>
  JSON.parse(JSON.stringify(translated(from, to, body).body));

const HELLO = { messages: [{ role: "user", content: "x" }] };

describe("custom tools at a provider that speaks chat completions", () => {
  const CODEX = {
    tools: [
      {
        type: "custom",
        name: "apply_patch",
        description: "Edits files.",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
    ],
    tool_choice: { type: "custom", name: "apply_patch" },
    input: [
      { type: "message", role: "user", content: "x" },
      { type: "custom_tool_call", call_id: "c", name: "apply_patch", input: "*** a" },
      { type: "custom_tool_call_output", call_id: "c", output: "ok" },
    ],
  };

  it("become functions", () => {
    const { tools, tool_choice, messages } = sent("responses", "chat", CODEX);
    expect(tools).toEqual([
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: "Edits files.\n\nThe input follows this lark grammar:\nstart: x",
          parameters: {
            type: "object",
            properties: { input: { type: "string" } },
            required: ["input"],
            additionalProperties: false,
          },
        },
      },
    ]);
    expect(tool_choice).toEqual({ type: "function", function: { name: "apply_patch" } });
    expect(messages[1].tool_calls).toEqual([
      {
        id: "c",
        type: "function",
        function: { name: "apply_patch", arguments: '{"input":"*** a"}' },
      },
    ]);
  });

  it("are called as custom tools again in the answer", () => {
    const { request, names } = translated("responses", "chat", CODEX);
    const sides = { upstream: "chat", client: "responses", request, names } as const;
    const called = { name: "apply_patch", arguments: '{"input":"*** b"}' };
    const call = { id: "d", type: "function", function: called };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    expect(translateAnswer({ id: "1", model: "m", choices }, sides).output).toMatchObject([
      { type: "custom_tool_call", call_id: "d", name: "apply_patch", input: "*** b" },
    ]);
    const translator = new StreamTranslator(sides);
    const delta = { tool_calls: [{ index: 0, ...call }] };
    const chunk = { id: "1", choices: [{ index: 0, delta, finish_reason: "tool_calls" }] };
    const events = translator.push(JSON.stringify(chunk)) + translator.end();
    expect(events).toContain("response.custom_tool_call_input.delta");
    expect(events).toContain('"*** b"');
  });
});

it("the Responses API gets a limit that it accepts", () => {
  const limit = (max_tokens: number) =>
    sent("messages", "responses", { ...HELLO, max_tokens }).max_output_tokens;
  expect([1, 15, 16, 300].map(limit)).toEqual([16, 16, 16, 300]);
});

it("long ids of users become hashes, and so do email addresses that are sent to Anthropic", () => {
  const long = `user_${"0".repeat(64)}_account__session_${"1".repeat(36)}`;
  const metadata = { user_id: long };
  for (const to of ["chat", "responses"] as const) {
    const { user } = sent("messages", to, { ...HELLO, max_tokens: 50, metadata });
    expect(user).toMatch(/^[0-9a-f]{64}$/);
  }
  const idOf = (user: string) => sent("chat", "messages", { ...HELLO, user }).metadata.user_id;
  expect(idOf("ann@example.com")).toMatch(/^[0-9a-f]{64}$/);
  expect(idOf("ann@example.com")).not.toBe(idOf("bob@example.com"));
  expect(idOf("ann-1_2")).toBe("ann-1_2");
});

it.each(["chat", "responses"] as const)("%s gets no choice of tools without tools", (to) => {
  const body = {
    ...HELLO,
    max_tokens: 50,
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  };
  const own = sent("messages", to, body);
  expect(own).not.toHaveProperty("tool_choice");
  expect(own).not.toHaveProperty("parallel_tool_calls");
});

it("a compacted conversation is not left out", () => {
  const input = [
    { type: "compaction", id: "c", encrypted_content: "e" },
    { role: "user", content: "x" },
  ];
  expect(() => translated("responses", "chat", { input })).toThrow("item compaction");
});
