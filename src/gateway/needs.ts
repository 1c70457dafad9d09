/**
 * What a request needs of a model, and which models have it. A model of which
 * nothing is known is taken to be able: a wrong guess costs one fallback, a
 * wrong refusal costs the model.
 */
export interface Needs {
  readonly vision: boolean;
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  /** Tokens of prompt and answer together, estimated. */
  readonly tokens: number;
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
  const images = messages.reduce<number>((sum, message) => sum + imageBytes(message), 0);
  const answer = numberOf(request.max_completion_tokens) ?? numberOf(request.max_tokens) ?? 0;
  return {
    vision: images > 0,
    tools: isFilled(tools) || isFilled(functions),
    jsonSchema: isRecord(format) && format.type === "json_schema",
    tokens: Math.ceil(Math.max(0, bytes - images) / BYTES_PER_TOKEN) + answer,
  };
}

/** English has about 4.5 bytes a token with its JSON around it, code and other scripts fewer. */
const BYTES_PER_TOKEN = 4;

/** What the model lacks, in words; undefined where it can serve the request. */
export function lackOf(model: Capabilities, needs: Needs): string | undefined {
  if (needs.vision && model.vision === false) return "takes no images";
  if (needs.tools && model.tools === false) return "calls no tools";
  if (needs.jsonSchema && model.jsonSchema === false) return "follows no JSON schema";
  if (model.context !== undefined && needs.tokens > model.context) {
    return `has room for ${model.context} tokens, this takes about ${needs.tokens}`;
  }
  return undefined;
}

/** The bytes of pictures, which are no text; at least 1 where there is one. */
function imageBytes(message: unknown): number {
  if (!isRecord(message) || !Array.isArray(message.content)) return 0;
  return message.content.reduce<number>((sum, part) => {
    if (!isRecord(part) || !/^(input_)?image/.test(String(part.type))) return sum;
    const { image_url: image } = part;
    const url = isRecord(image) ? image.url : image;
    return sum + (typeof url === "string" ? url.length : 1);
  }, 0);
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
