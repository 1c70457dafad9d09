import { type Attributes, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { expect, it, onTestFinished } from "vitest";
import { chat, SANDBOX, startGateway } from "../gateway.fixture.ts";

it("makes spans of requests and model calls with the decision's id and no prompt", async () => {
  const spans: { name: string; attributes: Attributes }[] = [];
  const startSpan = (name: string, options: { attributes?: Attributes } = {}): Span => {
    const attributes = { ...options.attributes };
    const span = trace.wrapSpanContext({
      traceId: "1".repeat(32),
      spanId: "1".repeat(16),
      traceFlags: 0,
    });
    return Object.assign(span, {
      setAttribute: (key: string, value: string) => {
        attributes[key] = value;
        return span;
      },
      end: () => void spans.push({ name, attributes }),
    });
  };
  const getTracer = () => ({ startSpan, startActiveSpan: () => ROOT_CONTEXT as never });
  trace.setGlobalTracerProvider({ getTracer });
  onTestFinished(() => trace.disable());

  const { post } = await startGateway(SANDBOX);
  const { json } = await post("/v1/chat/completions", chat("a secret of ann"));
  await expect.poll(() => spans.length).toBe(2);
  expect(spans).toContainEqual({
    name: `chat ${json.model}`,
    attributes: expect.objectContaining({
      "gen_ai.request.model": json.model,
      "gen_ai.usage.input_tokens": json.usage.prompt_tokens,
    }),
  });
  expect(spans).toContainEqual({
    name: "POST /v1/chat/completions",
    attributes: expect.objectContaining({
      "http.response.status_code": 200,
      "joust.decision_id": json.joust.decision_id,
    }),
  });
  expect(JSON.stringify(spans)).not.toContain("secret");
});
