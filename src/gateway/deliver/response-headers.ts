import type { AnswerHeaders } from "../providers/upstream/upstream.ts";

const PASSED = /^(x-request-id|request-id|openai-|anthropic-|x-ratelimit-)/;

/** Headers of an upstream's response that are passed on to the client. */
export function passedHeaders(headers: AnswerHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = PASSED.test(name) ? headers[name] : undefined;
    if (value !== undefined) passed[name] = typeof value === "string" ? value : value.join(", ");
  }
  return passed;
}

/** US dollars as a header value, without an exponent. */
export function dollars(cost: number): string {
  return cost.toFixed(10).replace(/\.?0+$/, "");
}
