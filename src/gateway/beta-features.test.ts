import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "./gateway.fixture.ts";
import { startPicky } from "./providers/picky.fixture.ts";

async function startVertex() {
  const host = await startPicky();
  onTestFinished(() => host.close());
  const gateway = await startGateway(`
providers:
  vertex: {url: "${host.url("vertex")}", dialect: anthropic, key: k}
models:
  claude: {provider: vertex, model: claude-sonnet-4-6}
`);
  return { host, gateway };
}

/** A request of Claude Code, which uses beta features of Anthropic's own API. */
const REQUEST = {
  model: "claude",
  max_tokens: 100,
  system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", scope: "global" } }],
  tools: [{ name: "f", input_schema: { type: "object" }, defer_loading: true }],
  context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
  messages: [{ role: "user", content: "hi" }],
};

it("beta features that a provider refuses are left out, and the next request needs no second attempt", async () => {
  const { host, gateway } = await startVertex();
  const betas = { "anthropic-beta": "known-2025-01-01,other-2026-01-05" };
  const first = await gateway.post("/v1/messages", REQUEST, betas);
  expect([first.status, first.json.content?.[0].text]).toEqual([200, "Hello!"]);
  expect(first.headers.get("x-joust-adapted")).toContain("anthropic-beta");
  expect(host.received("vertex")).toHaveLength(5);
  expect((await gateway.post("/v1/messages", REQUEST, betas)).status).toBe(200);
  expect(host.received("vertex")).toHaveLength(6);
  expect(host.received("vertex").at(-1)).toEqual({
    ...REQUEST,
    model: "claude-sonnet-4-6",
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    tools: [{ name: "f", input_schema: { type: "object" } }],
    context_management: undefined,
  });
});

it("all beta features are left out if the provider does not name the wrong one", async () => {
  const { host, gateway } = await startVertex();
  const { messages, model, max_tokens } = REQUEST;
  const betas = { "anthropic-beta": "known-2025-01-01,bedrock-2026-01-05" };
  const { status } = await gateway.post("/v1/messages", { model, max_tokens, messages }, betas);
  expect([status, host.received("vertex").length]).toEqual([200, 2]);
});
