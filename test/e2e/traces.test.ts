import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { newFolder } from "./joust.fixture.ts";
import { chat, startServer } from "./serve.fixture.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly parentSpanId?: string;
        readonly attributes: readonly Attribute[];
      }[];
    }[];
  }[];
}

it("OTEL_EXPORTER_OTLP_ENDPOINT alone sends traces, which continue the client's trace", async () => {
  const received: Traces[] = [];
  const paths: string[] = [];
  const collector = createServer((request, response) => {
    paths.push(request.url!);
    void json(request).then((traces) => {
      received.push(traces as Traces);
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => void collector.close());
  const { port } = collector.address() as AddressInfo;

  const server = await startServer([], newFolder(), [], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
  });
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify(chat("a secret of ann")),
  });
  const { joust } = (await response.json()) as { joust: { decision_id: string } };
  // The last spans are sent before the process ends.
  server.process.kill("SIGTERM");
  await server.process.end;

  const resources = received.flatMap(({ resourceSpans }) => resourceSpans);
  const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  const request = spans.find(({ name }) => name === "POST /v1/chat/completions")!;
  expect(request).toMatchObject({ traceId, parentSpanId: "00f067aa0ba902b7" });
  expect(textOf(request.attributes, "joust.decision_id")).toBe(joust.decision_id);
  const call = spans.find(({ name }) => name.startsWith("chat "))!;
  expect(call.traceId).toBe(traceId);
  expect(textOf(resources[0]!.resource.attributes, "service.name")).toBe("joust");
  expect(textOf(resources[0]!.resource.attributes, "deployment.environment")).toBe("test");
  expect(new Set(paths)).toEqual(new Set(["/v1/traces"]));
  expect(JSON.stringify(received)).not.toContain("secret");
});

function textOf(attributes: readonly Attribute[], name: string): string | undefined {
  return attributes.find(({ key }) => key === name)?.value.stringValue;
}
