import { UpstreamError } from "./error.ts";
import type { AnswerHeaders } from "./upstream.ts";

/** Makes the error of a response with an error status. */
export function refusal(
  upstream: string,
  status: number,
  body: Uint8Array,
  headers: AnswerHeaders,
): UpstreamError {
  const message = messageOf(body);
  const hint = HINTS[status];
  // The provider's message about a key may repeat parts of the key, so it is replaced.
  const isQuoted = hint === undefined && message !== undefined;
  const problem = `answered ${status}${isQuoted ? `: ${message}` : ""}`;
  const retryAfter = retryAfterOf(headers);
  return new UpstreamError("status", upstream, problem, { status, body, retryAfter, hint });
}

const HINTS: Readonly<Record<number, string>> = {
  401: "check the key of this provider",
  402: "add credit to the account at the provider",
  403: "check the rights of this provider's key",
  404: "check the provider's address and the model's name there",
  405: "check the provider's address",
  407: "check the proxy between here and the provider",
};

/** Message in an error body: `error.message`, a variation of it, or the start of a plain text. */
function messageOf(body: Uint8Array): string | undefined {
  const text = Buffer.from(body).toString();
  const found = messageIn(parse(text)) ?? (/^\s*[<{[]/.test(text) ? undefined : text.trim());
  if (!found) return undefined;
  return found.length > MAX_MESSAGE ? `${found.slice(0, MAX_MESSAGE)}...` : found;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageIn(value[0]); // Gemini sends a list of one error
  if (typeof value !== "object" || value === null) return undefined;
  const { error, message, detail } = value as Record<string, unknown>;
  return messageIn(error ?? message ?? detail);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_MESSAGE = 500;

/** Reads Retry-After, in seconds or as a date, and OpenAI's header in milliseconds. */
function retryAfterOf(headers: AnswerHeaders): number | undefined {
  const header = (name: string) => [headers[name]].flat()[0];
  const exact = Number.parseFloat(header("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const after = header("retry-after");
  if (after === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1000;
  // The date is compared with the upstream's own clock, which may differ from ours.
  const wait = Date.parse(after) - Date.parse(header("date") ?? "");
  return wait >= 0 ? wait : undefined;
}
