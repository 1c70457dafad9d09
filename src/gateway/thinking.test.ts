import { expect, it, onTestFinished } from "vitest";
import { chat, startGateway } from "./gateway.fixture.ts";
import { startPicky } from "./providers/picky.fixture.ts";

/** A gateway with Claude Haiku 4.5 and Claude Opus 4.8, each behind a router of its own. */
async function startClaude() {
  const host = await startPicky();
  onTestFinished(() => host.close());
  const gateway = await startGateway(`
providers:
  haiku-provider: {kind: anthropic, url: "${host.url("haiku")}", key: k}
  opus-provider: {kind: anthropic, url: "${host.url("opus")}", key: k}
models:
  haiku: {provider: haiku-provider, model: claude-haiku-4-5}
  opus: {provider: opus-provider, model: claude-opus-4-8}
routers:
  to-haiku: {models: [haiku], aliases: ["claude-*"]}
  to-opus: {models: [opus]}
`);
  return { host, gateway };
}

const HELLO = [{ role: "user", content: "hello" }];
/** Members that Claude Code sends with every request. */
const CLAUDE_CODE = {
  model: "claude-opus-4-8",
  max_tokens: 32_000,
  thinking: { type: "adaptive" },
  output_config: { effort: "xhigh" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
};

it("gives a model without adaptive thinking a budget", async () => {
  const { host, gateway } = await startClaude();
  const { status, json } = await gateway.post("/v1/messages", { ...CLAUDE_CODE, messages: HELLO });
  expect([status, json.content?.[0]?.text]).toEqual([200, "Hello!"]);
  const [sent, ...more] = host.received("haiku");
  expect(more).toEqual([]);
  expect(sent).toMatchObject({ thinking: { type: "enabled", budget_tokens: 16_000 } });
  expect(sent).toHaveProperty("context_management");
  expect(sent).not.toHaveProperty("output_config");
  expect(json.joust.adapted).toEqual([
    { param: "thinking.type", change: "renamed", to: "enabled" },
    { param: "output_config.effort", change: "dropped" },
  ]);
});

it("does not let a model think in a loop of tools that began without thinking", async () => {
  const { host, gateway } = await startClaude();
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "1" };
  const { status } = await gateway.post("/v1/messages", {
    ...CLAUDE_CODE,
    tools: [{ name: "f", input_schema: { type: "object" } }],
    messages: [
      ...HELLO,
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ],
  });
  expect(status).toBe(200);
  expect(host.received("haiku")).toHaveLength(1);
  const [sent] = host.received("haiku");
  expect(sent).not.toHaveProperty("thinking");
  expect(sent).not.toHaveProperty("context_management");
});

it("gives a model without budgets an effort", async () => {
  const { host, gateway } = await startClaude();
  const { status } = await gateway.post("/v1/messages", {
    model: "to-opus",
    max_tokens: 20_000,
    thinking: { type: "enabled", budget_tokens: 10_000 },
    messages: HELLO,
  });
  expect([status, host.received("opus")]).toEqual([
    200,
    [
      {
        model: "claude-opus-4-8",
        max_tokens: 20_000,
        thinking: { type: "adaptive" },
        output_config: { effort: "medium" },
        messages: HELLO,
      },
    ],
  ]);
});

it.each([
  ["/v1/chat/completions", { messages: HELLO, reasoning_effort: "medium" }],
  ["/v1/responses", { input: "hello", reasoning: { effort: "medium", summary: "auto" } }],
])("translates an effort of %s for each model", async (path, request) => {
  const { host, gateway } = await startClaude();
  for (const model of ["to-haiku", "haiku", "to-opus", "opus"]) {
    const { status } = await gateway.post(path, { model, ...request });
    expect([model, status]).toEqual([model, 200]);
  }
  expect(host.received("haiku").map(({ thinking }) => thinking)).toEqual([
    { type: "enabled", budget_tokens: 8192 },
    { type: "enabled", budget_tokens: 8192 },
  ]);
  const [sent] = host.received("opus");
  expect(sent).toMatchObject({
    thinking: { type: "adaptive" },
    output_config: { effort: "medium" },
  });
});

const FORMAT = (age: object) => ({
  type: "json_schema",
  json_schema: {
    name: "person",
    strict: true,
    schema: {
      type: "object",
      properties: { age },
      required: ["age"],
      additionalProperties: false,
    },
  },
});
const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

it("passes a schema on together with tools and thinking", async () => {
  const { host, gateway } = await startClaude();
  const response_format = FORMAT({ type: ["integer", "null"], minimum: 0 });
  const extra = { model: "to-haiku", tools: TOOLS, reasoning_effort: "low", response_format };
  const { status } = await gateway.post("/v1/chat/completions", chat("x", extra));
  expect(status).toBe(200);
  expect(host.received("haiku").map((body) => body.output_config)).toEqual([
    {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            age: {
              anyOf: [
                { type: "integer", description: "{minimum: 0}" },
                { type: "null", description: "{minimum: 0}" },
              ],
            },
          },
          required: ["age"],
          additionalProperties: false,
        },
      },
    },
  ]);
});

it("lets the model call a tool with the answer after it has refused a schema, and remembers that", async () => {
  const { host, gateway } = await startClaude();
  const response_format = FORMAT({ type: "string", description: "LARGE" });
  for (let i = 0; i < 2; i++) {
    const extra = { model: "to-haiku", response_format };
    expect((await gateway.post("/v1/chat/completions", chat("x", extra))).status).toBe(200);
  }
  expect(host.received("haiku").map(({ tool_choice }) => tool_choice)).toEqual([
    undefined,
    { type: "tool", name: "person", disable_parallel_tool_use: true },
    { type: "tool", name: "person", disable_parallel_tool_use: true },
  ]);
});
