import { promptOf } from "../dialects/chat/prompt.ts";
import { SANDBOX } from "../providers/providers.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import { isRecord, type Json } from "../wire/json-value.ts";

/** What of a request decides the sandbox's answer. */
export interface Asked {
  readonly text: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly Json[];
  readonly toolChoice: unknown;
  readonly form: Json;
  readonly n: number;
  readonly maxTokens: number;
  readonly stops: readonly string[];
  readonly wantsUsage: boolean;
}

/** A chat, or a prompt of the time before chats. */
export function readAsked({ body, endpoint }: UpstreamRequest): Asked {
  const request = parse(body);
  const messages =
    endpoint === "completions" ? [{ role: "user", content: request.prompt }] : request.messages;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw refused(400, "messages has to be a list of at least one message", "messages");
  }
  const n = request.n ?? 1;
  if (!(Number.isInteger(n) && Number(n) >= 1 && Number(n) <= MAX_N)) {
    throw refused(400, `n has to be a whole number from 1 to ${MAX_N}`, "n");
  }
  const limit = request.max_completion_tokens ?? request.max_tokens;
  const stops = Array.isArray(request.stop) ? request.stop : [request.stop];
  const options = isRecord(request.stream_options) ? request.stream_options : {};
  return {
    text: promptOf(messages),
    messages,
    tools: Array.isArray(request.tools) ? request.tools.filter(isRecord) : [],
    toolChoice: request.tool_choice,
    form: isRecord(request.response_format) ? request.response_format : {},
    n: Number(n),
    maxTokens: typeof limit === "number" && limit >= 1 ? limit : Infinity,
    stops: stops.filter((stop): stop is string => typeof stop === "string" && stop !== ""),
    wantsUsage: options.include_usage === true,
  };
}

const MAX_N = 16;

export function parse(body: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw refused(400, `the request is no JSON: ${error}`);
  }
  if (!isRecord(value)) throw refused(400, "the request is no JSON object");
  return value;
}

/** A refusal as a real host would send it. */
export function refused(
  status: number,
  message: string,
  param: string | null = null,
): UpstreamError {
  const code = status === 404 ? "model_not_found" : null;
  const error = { message, type: "invalid_request_error", param, code };
  const body = Buffer.from(JSON.stringify({ error }));
  return new UpstreamError("status", SANDBOX, `answered ${status}: ${message}`, { status, body });
}
