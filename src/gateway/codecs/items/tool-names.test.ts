import { expect, it } from "vitest";
import type { DialectName } from "../../wire/dialect-names.ts";
import { StreamTranslator, translateAnswer } from "../translate.ts";
import { translateRequest } from "../translate-request.ts";

/** A name as Claude Code makes it for a tool of an MCP server; OpenAI accepts 64 characters. */
const LONG = `mcp__${"server-".repeat(6)}__${"tool_".repeat(5)}`;
const BODY = {
  model: "m",
  max_tokens: 100,
  tools: [{ name: LONG, input_schema: { type: "object" } }],
  tool_choice: { type: "tool", name: LONG },
  messages: [
    { role: "user", content: "x" },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: LONG, input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "1" }] },
  ],
};

function translated(to: DialectName, body: object = BODY) {
  const route = { from: "messages", to, model: "m", requestsUsage: true } as const;
  return translateRequest(JSON.parse(JSON.stringify(body)), route);
}

it.each(["chat", "responses"] as const)("a name that %s refuses is shortened everywhere", (to) => {
  const { body, names } = translated(to);
  const text = JSON.stringify(body);
  expect(text).not.toContain(LONG);
  const [[short, given] = []] = names;
  expect(given).toBe(LONG);
  expect(short).toMatch(/^[\w-]{64}$/);
  expect(text.split(`"${short}"`)).toHaveLength(4);
  expect([...translated(to).names]).toEqual([...names]);
});

it("calls in the answer have the client's name", () => {
  const { request, names } = translated("chat");
  const [short] = names.keys();
  const sides = { upstream: "chat", client: "messages", request, names } as const;
  const call = { id: "c2", type: "function", function: { name: short, arguments: "{}" } };
  const message = { role: "assistant", content: null, tool_calls: [call] };
  const answer = translateAnswer(
    { id: "1", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] },
    sides,
  );
  expect(answer.content).toMatchObject([{ type: "tool_use", id: "c2", name: LONG }]);
  const chunk = {
    id: "1",
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }],
  };
  expect(new StreamTranslator(sides).push(JSON.stringify(chunk))).toContain(`"name":"${LONG}"`);
});

it("names with other characters are replaced, and do not collide", () => {
  const tools = ["a.b", "a b", "a_b"].map((name) => ({ name, input_schema: { type: "object" } }));
  const { body } = translated("chat", { ...BODY, tools, tool_choice: undefined });
  const sent = (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  expect(new Set(sent).size).toBe(3);
  expect(sent.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
  expect(sent[2]).toBe("a_b");
});
