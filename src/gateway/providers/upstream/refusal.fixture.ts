import { refusal, type UpstreamError } from "./error.ts";

/** The error of an upstream that answers with this status and body. */
export function refused(status: number, body: unknown): UpstreamError {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return refusal("host", status, Buffer.from(text), {});
}

/** An error body in OpenAI's shape. */
export function openai(message: string, more: object = {}) {
  return { error: { message, type: "invalid_request_error", param: null, code: null, ...more } };
}

/** An error body in Anthropic's shape. */
export function anthropic(message: string) {
  return { type: "error", error: { type: "invalid_request_error", message } };
}
