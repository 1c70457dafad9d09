import type { Needs } from "../../providers/capabilities.ts";
import { isRecord } from "../../wire/json-value.ts";

/** Members of a chat request that determine its needs. */
interface ChatMembers {
  readonly messages: readonly unknown[];
  readonly tools?: unknown;
  readonly functions?: unknown;
  readonly response_format?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
}

/** `bytes` is the length of the messages in the request body. */
export function needsOf(request: ChatMembers, bytes: number): Needs {
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
    promptTokens: tokensIn(Math.max(0, bytes - attached)),
    answerTokens: positive(request.max_completion_tokens) ?? positive(request.max_tokens),
  };
}

/**
 * Estimated number of tokens. English in JSON has about 4.5 bytes per token, code and other
 * scripts have fewer.
 */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** Bytes of an attached image, sound or file, which are not text. */
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
