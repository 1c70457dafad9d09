import {
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/**
 * Spans for an OpenTelemetry SDK: the one that `exportTraces` sets up, or the operator's own
 * (node --import ./sdk.js). Without an SDK no span is made. Names and attributes follow the conventions for HTTP and for
 * generative AI. Spans contain no prompt, answer or key.
 */
const tracer = trace.getTracer("joust");

/** Whether an SDK is set up. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  if (!(provider instanceof ProxyTracerProvider)) return true;
  return provider.getDelegateTracer("joust") !== undefined;
}

export interface RequestSpan {
  /** Runs a function, and everything that it starts, within the span. */
  run(work: () => void): void;
  end(status: number, decision: string | undefined): void;
}

/**
 * Starts the span of a request, as a part of the client's trace if it has one. Returns
 * undefined if no SDK is set up.
 */
export function startRequestSpan(
  method: string,
  route: string,
  headers: object,
): RequestSpan | undefined {
  if (!isTraced()) return undefined;
  const kind = SpanKind.SERVER;
  const attributes = { "http.request.method": method, "http.route": route };
  const outer = propagation.extract(context.active(), headers);
  const span = tracer.startSpan(`${method} ${route}`, { kind, attributes }, outer);
  return {
    run: (work) => context.with(trace.setSpan(outer, span), work),
    end: (status, decision) => {
      span.setAttribute("http.response.status_code", status);
      if (decision !== undefined) span.setAttribute("joust.decision_id", decision);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Starts the span of a call of a model, if an SDK is set up. It lasts until the answer ends. */
export function startModelSpan(endpoint: string, model: string, provider: string): Span {
  const operation = OPERATIONS[endpoint] ?? endpoint;
  const attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": model,
    "gen_ai.provider.name": provider,
  };
  return tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes });
}

interface SpanEnd {
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number } | undefined;
  readonly error?: { readonly code: string } | undefined;
}

export function endModelSpan(span: Span, { usage, error }: SpanEnd): void {
  if (usage) {
    span.setAttribute("gen_ai.usage.input_tokens", usage.promptTokens);
    span.setAttribute("gen_ai.usage.output_tokens", usage.completionTokens);
  }
  if (error) {
    span.setAttribute("error.type", error.code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

const OPERATIONS: Readonly<Record<string, string>> = {
  "chat/completions": "chat",
  completions: "text_completion",
};
