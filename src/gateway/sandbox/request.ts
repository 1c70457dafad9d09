import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { SANDBOX } from "../config/references.ts";
import { promptOf } from "../dialects/chat/prompt.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import { isRecord, type Json } from "../wire/json.ts";

/** Reads a chat, or the prompt of a completion. */
export function readChat({ body, endpoint }: UpstreamRequest) {
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
    messages: messages as readonly unknown[],
    tools: Array.isArray(request.tools) ? request.tools.filter(isRecord) : [],
    toolChoice: request.tool_choice,
    format: isRecord(request.response_format) ? request.response_format : ({} as Json),
    n: Number(n),
    maxTokens: typeof limit === "number" && limit >= 1 ? limit : Infinity,
    stops: stops.filter((stop): stop is string => typeof stop === "string" && stop !== ""),
    wantsUsage: options.include_usage === true,
  };
}

/** The parts of a request that determine the sandbox's answer. */
export type SandboxChat = ReturnType<typeof readChat>;

const MAX_N = 16;

function parse(body: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw refused(400, `the request is not JSON: ${error}`);
  }
  if (!isRecord(value)) throw refused(400, "the request is not a JSON object");
  return value;
}

/** Error response as a real upstream would send it. */
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

/** Answers /v1/embeddings with the vectors of the router's encoder. */
export async function embeddings(
  body: Uint8Array,
  model: string,
  encoder: Encoder,
): Promise<{ answer: Json; tokens: number }> {
  const { input, encoding_format: format } = parse(body);
  const texts = typeof input === "string" ? [input] : input;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === "string")) {
    throw refused(400, "input has to be a text or a list of texts", "input");
  }
  const vectors = await encoder.encode(texts);
  const data = vectors.map((vector, index) => {
    const floats = Float32Array.from(vector);
    const embedding =
      format === "base64" ? Buffer.from(floats.buffer).toString("base64") : [...floats];
    return { object: "embedding", index, embedding };
  });
  const tokens = Math.ceil(texts.join("").length / 4);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { answer: { object: "list", model, data, usage }, tokens };
}
