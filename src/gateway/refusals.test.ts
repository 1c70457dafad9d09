import { describe, expect, it, onTestFinished } from "vitest";
import { chat, startGateway } from "./gateway.fixture.ts";
import { type Picky, type PickyModel, startPicky } from "./providers/picky.fixture.ts";

/** Starts a gateway whose router always prefers the first of the models. */
async function startPool(...models: PickyModel[]) {
  const host = await startPicky();
  onTestFinished(() => host.close());
  return { host, gateway: await startGateway(poolOf(host, models)) };
}

function poolOf(host: Picky, models: readonly PickyModel[]): string {
  const providers = models.map(
    (name) =>
      `  ${name}: {url: "${host.url(name)}", key: KEY-OF-HOST, dialect: ${name === "claude" ? "anthropic" : "openai"}}`,
  );
  const entries = models.map(
    (name, i) => `  ${name}: {provider: ${name}, price: {input: ${i}, output: ${i}}}`,
  );
  return `
providers:
${providers.join("\n")}
models:
${entries.join("\n")}
routers:
  auto: {cost_quality_tradeoff: 10, explore: 0}
`;
}

const LONG = "many words ".repeat(600);
const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

describe("a model's own refusal goes to the next model", () => {
  it("a prompt that is too long is answered elsewhere, and the limit is remembered", async () => {
    const { host, gateway } = await startPool("small", "easy");
    const first = await gateway.post("/v1/chat/completions", chat(LONG));
    expect(first.status).toBe(200);
    expect(first.json.joust).toMatchObject({
      model: "easy",
      fallbacks: [{ model: "small", reason: "context_length 400" }],
    });
    expect(host.received("small")).toHaveLength(1);
    // The same request no longer goes to the small model; a short one does.
    const second = await gateway.post("/v1/chat/completions", chat(LONG));
    expect(second.json.joust).toMatchObject({ model: "easy" });
    expect(second.json.joust.fallbacks).toBeUndefined();
    expect(host.received("small")).toHaveLength(1);
    const short = await gateway.post("/v1/chat/completions", chat("hello"));
    expect(short.json.joust.model).toBe("small");
    const { json } = await gateway.get("/v1/models/small");
    expect(json.capabilities.context).toBe(1000);
  });

  it("a model without tools is remembered, and still answers other requests", async () => {
    const { host, gateway } = await startPool("small", "easy");
    for (let i = 0; i < 2; i++) {
      const { json } = await gateway.post("/v1/chat/completions", chat("x", { tools: TOOLS }));
      expect(json.joust.model).toBe("easy");
    }
    expect(host.received("small")).toHaveLength(1);
    const { json } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(json.joust.model).toBe("small");
  });

  it("a prompt that one provider blocks is sent to another one", async () => {
    const { gateway } = await startPool("filtered", "easy");
    const { json } = await gateway.post("/v1/chat/completions", chat("a weapon"));
    expect(json.joust).toMatchObject({
      model: "easy",
      fallbacks: [{ model: "filtered", reason: "content_filter 400" }],
    });
  });

  it("an account without credit is called once, not retried", async () => {
    const { host, gateway } = await startPool("broke", "easy");
    const { json } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(json.joust.fallbacks).toEqual([{ model: "broke", reason: "quota 429" }]);
    expect(host.received("broke")).toHaveLength(1);
  });

  it("works for streams", async () => {
    const { gateway } = await startPool("small", "easy");
    const { text } = await gateway.post("/v1/chat/completions", chat(LONG, { stream: true }));
    expect(text).toContain('"model":"easy"');
    expect(text).toContain("data: [DONE]");
  });

  it("refusals do not open the circuit breaker", async () => {
    const { gateway } = await startPool("filtered", "easy");
    for (let i = 0; i < 12; i++) {
      const { json } = await gateway.post("/v1/chat/completions", chat(`weapon ${i}`));
      expect(json.joust.fallbacks).toHaveLength(1);
    }
    const { json } = await gateway.post("/v1/chat/completions", chat("peace"));
    expect(json.joust.model).toBe("filtered");
  });
});

describe("what the client sees", () => {
  it("the first model's refusal if no model accepts the request", async () => {
    const { gateway } = await startPool("filtered", "small");
    const { status, json } = await gateway.post("/v1/chat/completions", chat(`${LONG} weapon`));
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: "content_filter", param: "prompt" });
  });

  it("details of a fault of the request, in any shape, without the key of the provider", async () => {
    const { host, gateway } = await startPool("fussy", "easy");
    const { status, json, text } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(status).toBe(422);
    expect(json.error.message).toBe(
      "fussy answered 422: messages.0.name: Field required for [redacted]",
    );
    expect(json.error.upstream.detail[0].loc).toEqual(["body", "messages", 0, "name"]);
    expect(text).not.toContain("KEY-OF-HOST");
    expect(host.received("easy")).toHaveLength(0);
  });

  it("an account without credit as a failure of the gateway", async () => {
    const { gateway } = await startPool("broke");
    const { status, json } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(status).toBe(502);
    expect(json.error.code).toBe("quota");
  });
});
