import { UpstreamError } from "./error.ts";
import type { AnswerHeaders } from "./upstream.ts";

/** The error of an upstream that said no: its status, its own words, and how long it wants to be left alone. */
export function refusal(
  upstream: string,
  status: number,
  body: Uint8Array,
  headers: AnswerHeaders,
): UpstreamError {
  const said = messageOf(body);
  const hint = HINTS[status];
  // What a provider says of a key may repeat parts of it.
  const isQuoted = hint === undefined && said !== undefined;
  const problem = `answered ${status}${isQuoted ? `: ${said}` : ""}`;
  const retryAfter = retryAfterOf(headers);
  return new UpstreamError("status", upstream, problem, { status, body, retryAfter, hint });
}

const HINTS: Readonly<Record<number, string>> = {
  401: "check the key of this provider",
  402: "the provider's account has no money left",
  403: "check what the key of this provider may do",
  404: "check the provider's address and the model's name there",
  405: "check the provider's address",
  407: "check the proxy between here and the provider",
};

/** `error.message` of nearly every provider, some other ways of it, or the beginning of the text. */
function messageOf(body: Uint8Array): string | undefined {
  const text = Buffer.from(body).toString();
  const said = messageIn(parse(text)) ?? (/^\s*[<{[]/.test(text) ? undefined : text.trim());
  if (!said) return undefined;
  return said.length > MAX_MESSAGE ? `${said.slice(0, MAX_MESSAGE)}...` : said;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageIn(value[0]); // Gemini's list of one
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

/** Retry-After in seconds or as a date, and OpenAI's own in milliseconds. */
function retryAfterOf(headers: AnswerHeaders): number | undefined {
  const said = (name: string) => [headers[name]].flat()[0];
  const exact = Number.parseFloat(said("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const after = said("retry-after");
  if (after === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1000;
  // The upstream's own clock, where it tells: ours may differ.
  const wait = Date.parse(after) - Date.parse(said("date") ?? "");
  return wait >= 0 ? wait : undefined;
}
