import { isRecord } from "../wire/json-value.ts";

/**
 * What a request needs of a model, and which models have it. A model of which
 * nothing is known is taken to be able: a wrong guess costs one fallback, a
 * wrong refusal costs the model.
 */
export interface Needs {
  readonly vision: boolean;
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  /** Tokens of the prompt, estimated. */
  readonly promptTokens: number;
  /** The most that the client wants to be answered. */
  readonly answerTokens: number | undefined;
}

export interface Capabilities {
  readonly vision?: boolean | undefined;
  readonly tools?: boolean | undefined;
  readonly jsonSchema?: boolean | undefined;
  /** Tokens that prompt and answer may have together. */
  readonly context?: number | undefined;
}

/** The members of a chat request that decide. */
export interface ChatRequest {
  readonly messages: readonly unknown[];
  readonly tools?: unknown;
  readonly functions?: unknown;
  readonly response_format?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
}

/** `bytes` is the length of the request's messages as they came. */
export function needsOf(request: ChatRequest, bytes: number): Needs {
  const { messages, tools, functions, response_format: format } = request;
  let vision = false;
  let attached = 0;
  for (const message of messages) {
    if (!isRecord(message) || !Array.isArray(message.content)) continue;
    for (const part of message.content) {
      if (!isRecord(part)) continue;
      vision ||= /^(input_)?image/.test(String(part.type));
      attached += attachedBytes(part);
    }
  }
  return {
    vision,
    tools: isFilled(tools) || isFilled(functions),
    jsonSchema: isRecord(format) && format.type === "json_schema",
    promptTokens: Math.ceil(Math.max(0, bytes - attached) / BYTES_PER_TOKEN),
    answerTokens: positive(request.max_completion_tokens) ?? positive(request.max_tokens),
  };
}

/** English has about 4.5 bytes a token with its JSON around it, code and other scripts fewer. */
const BYTES_PER_TOKEN = 4;

/** What the model lacks, in words; undefined where it can serve the request. */
export function lackOf(model: Capabilities, needs: Needs): string | undefined {
  if (needs.vision && model.vision === false) return "takes no images";
  if (needs.tools && model.tools === false) return "calls no tools";
  if (needs.jsonSchema && model.jsonSchema === false) return "follows no JSON schema";
  const tokens = needs.promptTokens + (needs.answerTokens ?? 0);
  if (model.context !== undefined && tokens > model.context) {
    return `has room for ${model.context} tokens, this takes about ${tokens}`;
  }
  return undefined;
}

/** The bytes of pictures, sounds and files, which are no text. */
function attachedBytes(part: Readonly<Record<string, unknown>>): number {
  const { image_url: image, input_audio: audio, file } = part;
  const data = isRecord(image)
    ? image.url
    : isRecord(audio)
      ? audio.data
      : isRecord(file)
        ? file.file_data
        : image;
  return typeof data === "string" ? data.length : 0;
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}
