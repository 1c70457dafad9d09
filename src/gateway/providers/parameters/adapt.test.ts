import { describe, expect, it } from "vitest";
import type { DialectName } from "../../wire/dialect-names.ts";
import { editMembers, scanObject } from "../../wire/json.ts";
import type { Adaptation } from "../upstream/upstream.ts";
import { adapt } from "./adapt.ts";
import { knownRules } from "./known-rules.ts";
import { adaptedHeader, isEmpty, mergeRules, type ParameterRules } from "./rules.ts";

function adaptedBy(rules: ParameterRules, body: object, dialect: DialectName = "chat") {
  const members = scanObject(Buffer.from(JSON.stringify(body)));
  const { edits, adapted } = adapt(rules, dialect, members);
  return { body: JSON.parse(Buffer.from(editMembers(members, edits)).toString()), adapted };
}

describe("rules", () => {
  it.each<[string, ParameterRules, object, object, Adaptation[]]>([
    [
      "rename",
      { rename: { max_tokens: "max_completion_tokens" } },
      { max_tokens: 5, a: 1 },
      { max_completion_tokens: 5, a: 1 },
      [{ param: "max_tokens", change: "renamed", to: "max_completion_tokens" }],
    ],
    [
      "rename to a name that is there already",
      { rename: { max_tokens: "max_completion_tokens" } },
      { max_tokens: 5, max_completion_tokens: 7 },
      { max_completion_tokens: 7 },
      [],
    ],
    ["rename of null", { rename: { max_tokens: "x" } }, { max_tokens: null }, {}, []],
    ["drop", { drop: ["store"] }, { store: true }, {}, [{ param: "store", change: "dropped" }]],
    ["drop of null", { drop: ["store"] }, { store: null }, {}, []],
    [
      "drop of an inner member",
      { drop: ["text.verbosity"] },
      { text: { verbosity: "low", format: {} } },
      { text: { format: {} } },
      [{ param: "text.verbosity", change: "dropped" }],
    ],
    [
      "one accepted value",
      { only: { temperature: 1 } },
      { temperature: 0.5 },
      {},
      [{ param: "temperature", change: "dropped" }],
    ],
    [
      "the accepted value",
      { only: { temperature: 1 } },
      { temperature: 1 },
      { temperature: 1 },
      [],
    ],
    [
      "either",
      { either: [["temperature", "top_p"]] },
      { temperature: 0.5, top_p: 0.9 },
      { temperature: 0.5 },
      [{ param: "top_p", change: "dropped" }],
    ],
    ["either, one of them", { either: [["temperature", "top_p"]] }, { top_p: 1 }, { top_p: 1 }, []],
    [
      "limit after a rename",
      { rename: { max_tokens: "max_completion_tokens" }, maxAnswer: 100 },
      { max_tokens: 500 },
      { max_completion_tokens: 100 },
      [
        { param: "max_tokens", change: "renamed", to: "max_completion_tokens" },
        { param: "max_completion_tokens", change: "limited", to: 100 },
      ],
    ],
    ["a value below the limit", { max: { top_k: 40 } }, { top_k: 40 }, { top_k: 40 }, []],
    [
      "role developer",
      { noDeveloper: true },
      {
        messages: [
          { role: "developer", content: "x" },
          { role: "user", content: "developer" },
        ],
      },
      {
        messages: [
          { role: "system", content: "x" },
          { role: "user", content: "developer" },
        ],
      },
      [{ param: "messages.role", change: "renamed", to: "system" }],
    ],
    [
      "members of messages",
      { dropFromMessages: ["reasoning_content"] },
      { messages: [{ role: "assistant", content: "x", reasoning_content: "hm" }] },
      { messages: [{ role: "assistant", content: "x" }] },
      [{ param: "messages.reasoning_content", change: "dropped" }],
    ],
  ])("%s", (_, rules, body, expected, adapted) => {
    expect(adaptedBy(rules, body)).toEqual({ body: expected, adapted });
  });

  it("a schema together with tools moves into the system message", () => {
    const response_format = { type: "json_schema", json_schema: { schema: { type: "object" } } };
    const tools = [{ type: "function" }];
    const user = { role: "user", content: "x" };
    const rules = { noSchemaWithTools: true };
    const { body, adapted } = adaptedBy(rules, { messages: [user], tools, response_format });
    expect(body.response_format).toBeUndefined();
    expect(body.messages[0]).toMatchObject({ role: "system" });
    expect(body.messages[0].content).toContain('by this JSON schema: {"type":"object"}');
    expect(body.messages[1]).toEqual(user);
    expect(adapted).toEqual([{ param: "response_format", change: "moved", to: "messages" }]);
    const system = { role: "system", content: "Be brief." };
    const joined = adaptedBy(rules, { messages: [system, user], tools, response_format }).body;
    expect(joined.messages).toHaveLength(2);
    expect(joined.messages[0].content).toMatch(/^Be brief\.\n\nWhen you call no tool/);
    // Without tools the schema stays.
    expect(adaptedBy(rules, { messages: [user], tools: [], response_format }).adapted).toEqual([]);
  });

  it("a member with a number that is too large to be written again keeps its bytes", () => {
    const schema = '{"type":"json_schema","json_schema":{"schema":{"maximum":1e999}}}';
    const messages = '[{"role":"developer","content":"x","n":1e999}]';
    const body = `{"messages":${messages},"tools":[{}],"response_format":${schema},"a":{"b":1,"c":1e999}}`;
    const rules = { drop: ["a.b"], noDeveloper: true, noSchemaWithTools: true };
    const members = scanObject(Buffer.from(body));
    const { edits, adapted } = adapt(rules, "chat", members);
    expect([Buffer.from(editMembers(members, edits)).toString(), adapted]).toEqual([body, []]);
  });

  it("members of tools and of cache marks are left out, and nothing else of that name", () => {
    const mark = (more: object = {}) => ({ cache_control: { type: "ephemeral", ...more } });
    const body = (tool: object, more: object) => ({
      system: [{ text: "s", ...mark(more) }],
      tools: [{ name: "f", input_schema: { scope: 1, strict: 2 }, ...tool }],
      messages: [{ role: "user", content: [{ text: "u", scope: 3, ...mark(more) }] }],
    });
    const rules = { dropFromTools: ["strict"], dropFromCache: ["scope"] };
    const given = body({ strict: true }, { scope: "global" });
    expect(adaptedBy(rules, given, "messages")).toEqual({
      body: body({}, {}),
      adapted: [
        { param: "tools.strict", change: "dropped" },
        { param: "cache_control.scope", change: "dropped" },
        { param: "cache_control.scope", change: "dropped" },
        { param: "cache_control.scope", change: "dropped" },
      ],
    });
  });

  it("other dialects keep their messages", () => {
    const body = { messages: [{ role: "developer", reasoning_content: "x" }], store: true };
    const rules = { noDeveloper: true, dropFromMessages: ["reasoning_content"], drop: ["store"] };
    expect(adaptedBy(rules, body, "messages").body).toEqual({ messages: body.messages });
  });

  it("names from error messages cannot reach the prototype", () => {
    const rules = mergeRules([{ drop: ["__proto__"] }, { rename: { ["__proto__"]: "a" } }]);
    expect(adaptedBy(rules, { a: 1 }).body).toEqual({ a: 1 });
  });
});

describe("known rules", () => {
  it.each([
    [
      { provider: "openai", model: "gpt-5-mini" },
      { temperature: 0, max_tokens: 9 },
      { max_completion_tokens: 9 },
    ],
    [
      { provider: "openai", model: "gpt-5.4" },
      { temperature: 0, max_tokens: 9 },
      { temperature: 0, max_completion_tokens: 9 },
    ],
    [
      { provider: "openai", model: "gpt-4.1" },
      { temperature: 0, max_tokens: 9 },
      { temperature: 0, max_tokens: 9 },
    ],
    [
      { provider: "mistral", model: "mistral-large" },
      { max_completion_tokens: 9, store: false, seed: 1 },
      { max_tokens: 9, random_seed: 1 },
    ],
    [
      { provider: "anthropic", model: "claude-sonnet-4-5" },
      { temperature: 0.5, top_p: 0.5 },
      { temperature: 0.5 },
    ],
    [
      { provider: "anthropic", model: "claude-opus-4-8", temperature: false },
      { temperature: 0.5, top_p: 0.5, top_k: 5 },
      {},
    ],
    [{ provider: "house", model: "m", maxAnswer: 50 }, { max_tokens: 99 }, { max_tokens: 50 }],
    [{ provider: "house", model: "m", temperature: false }, { temperature: 0.1 }, {}],
  ])("%j", (facts, body, expected) => {
    expect(adaptedBy(knownRules(facts), body).body).toEqual(expected);
  });

  const CLAUDE = { efforts: ["low", "medium", "high", "xhigh", "max"] };
  it.each<[string, Parameters<typeof knownRules>[0], DialectName, object, object]>([
    [
      "an effort that OpenAI's model does not have",
      { provider: "openai", model: "o3", reasoning: { efforts: ["low", "medium", "high"] } },
      "chat",
      { reasoning_effort: "xhigh" },
      { reasoning_effort: "high" },
    ],
    [
      "reasoning that cannot be turned off",
      { provider: "openai", model: "o3", reasoning: { efforts: ["low", "medium", "high"] } },
      "responses",
      { reasoning: { effort: "none", summary: "auto" } },
      { reasoning: { effort: "low", summary: "auto" } },
    ],
    [
      "none at another host",
      { provider: "groq", model: "m", reasoning: { efforts: ["low", "high"] } },
      "chat",
      { reasoning_effort: "none" },
      { reasoning_effort: "none" },
    ],
    [
      "an unknown effort",
      { provider: "groq", model: "m", reasoning: { efforts: ["low", "high"] } },
      "chat",
      { reasoning_effort: "default" },
      { reasoning_effort: "default" },
    ],
    [
      "a host without efforts",
      { provider: "gemini", model: "m", reasoning: { efforts: [], budget: 128 } },
      "chat",
      { reasoning_effort: "high" },
      { reasoning_effort: "high" },
    ],
    [
      "a model that does not reason, chat",
      { provider: "openai", model: "gpt-4.1", reasoning: false },
      "chat",
      { reasoning_effort: "high" },
      {},
    ],
    [
      "a model that does not reason, responses",
      { provider: "openai", model: "gpt-4.1", reasoning: false },
      "responses",
      { reasoning: { effort: "high" }, include: ["reasoning.encrypted_content", "x"] },
      { include: ["x"] },
    ],
    [
      "a model that does not reason, messages",
      { provider: "anthropic", model: "claude-3-5-sonnet", reasoning: false },
      "messages",
      { thinking: { type: "adaptive" }, output_config: { effort: "low", format: {} } },
      { output_config: { format: {} } },
    ],
    [
      "a budget with efforts but without adaptive thinking",
      {
        provider: "anthropic",
        model: "claude-opus-4-5",
        reasoning: { efforts: ["low", "medium", "high"], budget: 1024 },
      },
      "messages",
      { max_tokens: 9000, thinking: { type: "adaptive" }, output_config: { effort: "max" } },
      {
        max_tokens: 9000,
        thinking: { type: "enabled", budget_tokens: 4500 },
        output_config: { effort: "high" },
      },
    ],
    [
      "no room for a budget",
      { provider: "anthropic", model: "m", reasoning: { efforts: [], budget: 1024 } },
      "messages",
      { max_tokens: 2000, thinking: { type: "adaptive" } },
      { max_tokens: 2000 },
    ],
    [
      "a small budget for a model without budgets",
      { provider: "anthropic", model: "m", reasoning: CLAUDE },
      "messages",
      { thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" } },
      { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "low" } },
    ],
    [
      "adaptive thinking where it exists",
      { provider: "anthropic", model: "m", reasoning: CLAUDE },
      "messages",
      { thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } },
      { thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } },
    ],
    [
      "nothing known",
      { provider: "anthropic", model: "m" },
      "messages",
      { thinking: { type: "adaptive" }, output_config: { effort: "turbo" } },
      { thinking: { type: "adaptive" }, output_config: { effort: "turbo" } },
    ],
  ])("%s", (_, facts, dialect, body, expected) => {
    expect(adaptedBy(knownRules(facts), body, dialect).body).toEqual(expected);
  });

  it("calls without a signature get Google's mark at Gemini 3", () => {
    const signed = { extra_content: { google: { thought_signature: "s" } } };
    const calls = (...all: object[]) => ({ role: "assistant", tool_calls: all });
    const messages = [calls({ id: "a" }, { id: "b" }), calls({ id: "c", ...signed }, { id: "d" })];
    const rules = knownRules({ provider: "gemini", model: "gemini-3-pro-preview" });
    const mark = { google: { thought_signature: "skip_thought_signature_validator" } };
    expect(adaptedBy(rules, { messages }).body.messages).toEqual([
      calls({ id: "a", extra_content: mark }, { id: "b" }),
      messages[1],
    ]);
    const earlier = knownRules({ provider: "gemini", model: "gemini-2.5-pro" });
    expect(adaptedBy(earlier, { messages }).body).toEqual({ messages });
  });

  it.each([
    ["claude-haiku-4-5", true],
    ["claude-opus-4-1-20250805", true],
    ["claude-sonnet-5", true],
    ["claude-sonnet-4-20250514", false],
    ["claude-opus-4-0", false],
    ["claude-3-7-sonnet-20250219", false],
  ])("%s accepts a schema of its answer: %s", (model, schemas) => {
    expect(knownRules({ provider: "anthropic", model }).schemas).toBe(schemas);
    expect(knownRules({ provider: "house", model }).schemas).toBe(false);
    expect(knownRules({ provider: "house", model, jsonSchema: true }).schemas).toBe(true);
  });

  it("most models have none", () => {
    expect(isEmpty(knownRules({ provider: "openai", model: "gpt-4.1" }))).toBe(true);
    expect(isEmpty(knownRules({ model: "llama" }))).toBe(true);
  });
});

it("the header is a list with parameters", () => {
  expect(
    adaptedHeader([
      { param: "max_tokens", change: "renamed", to: "max_completion_tokens" },
      { param: "temperature", change: "dropped" },
      { param: "max_tokens", change: "limited", to: 5 },
      { param: "Odd\nname", change: "dropped" },
    ]),
  ).toBe(
    'max_tokens;renamed="max_completion_tokens", temperature;dropped, max_tokens;limited=5, "Odd?name";dropped',
  );
});
