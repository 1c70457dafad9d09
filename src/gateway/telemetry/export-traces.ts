import { isTraced } from "./tracing.ts";

/**
 * Sends traces to the collector that the environment names with OTEL_EXPORTER_OTLP_ENDPOINT or
 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. The SDK reads the other OTEL_ variables itself: headers,
 * sampler, batch size, resource attributes. Returns a function that sends the last spans and
 * stops, or undefined if no collector is named or an SDK is already set up (node --import).
 */
export async function exportTraces(
  environment: NodeJS.ProcessEnv,
): Promise<(() => Promise<void>) | undefined> {
  if (!isWanted(environment) || isTraced()) return undefined;
  // A gateway without traces does not load these modules.
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import("@opentelemetry/sdk-trace-node"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
  const { detectResources, envDetector, resourceFromAttributes } = resources;
  const resource = resourceFromAttributes({ "service.name": "joust" }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return () => provider.shutdown().catch(() => {}); // a collector that is down must not fail the exit
}

function isWanted(environment: NodeJS.ProcessEnv): boolean {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint = endpoint,
    OTEL_SDK_DISABLED: disabled,
    OTEL_TRACES_EXPORTER: exporter = "otlp",
  } = environment;
  return Boolean(tracesEndpoint) && disabled !== "true" && exporter === "otlp";
}
