import { isRecord, type Json, parsed } from "../../wire/json.ts";
import { UpstreamError } from "../upstream/error.ts";
import type { Pass, Translation } from "../upstream/upstream.ts";
import { type Usage, writeUsage } from "../upstream/usage.ts";

/** Translates a complete message to a chat completion. */
export class AnthropicAnswer implements Translation {
  readonly events = 0;
  readonly isDone = false;
  usage: Usage | undefined;
  readonly #upstream: string;
  readonly #answerTool: string | undefined;
  readonly #created: number;
  readonly #chunks: Buffer[] = [];

  constructor(upstream: string, answerTool: string | undefined, created: number) {
    this.#upstream = upstream;
    this.#answerTool = answerTool;
    this.#created = created;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(pass: Pass): void {
    const message = this.#read();
    this.usage = messageUsage(message.usage);
    pass(Buffer.from(JSON.stringify(this.#completion(message))));
  }

  #read(): Json & { content: unknown[] } {
    let problem = "it is not a message";
    try {
      const message: unknown = JSON.parse(Buffer.concat(this.#chunks).toString());
      if (isRecord(message) && Array.isArray(message.content)) {
        return { ...message, content: message.content };
      }
    } catch (error) {
      problem = String(error);
    }
    throw new UpstreamError("broken", this.#upstream, `sent an incomplete answer: ${problem}`);
  }

  #completion(message: Json & { content: unknown[] }): Json {
    const blocks = message.content.filter(isRecord);
    const texts = (type: string, key: string) =>
      blocks.flatMap((block) => (block.type === type ? [String(block[key])] : [])).join("");
    const uses = blocks.filter((block) => block.type === "tool_use");
    const answer = uses.find((use) => use.name === this.#answerTool);
    const calls = uses
      .filter((use) => use !== answer)
      .map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input ?? {}) },
      }));
    const text = answer ? JSON.stringify(answer.input) : texts("text", "text");
    const thinking = texts("thinking", "thinking");
    return {
      id: message.id,
      object: "chat.completion",
      created: this.#created,
      model: message.model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text === "" && calls.length > 0 ? null : text,
            refusal: null,
            ...(thinking === "" ? {} : { reasoning_content: thinking }),
            ...(calls.length > 0 ? { tool_calls: calls } : {}),
          },
          logprobs: null,
          finish_reason: finishReason(message.stop_reason, answer !== undefined),
        },
      ],
      ...(this.usage ? { usage: writeUsage(this.usage) } : {}),
    };
  }
}

/** `isAnswer` says that the called tool's input is the answer, so the client sees no call. */
export function finishReason(stopReason: unknown, isAnswer: boolean): string {
  if (stopReason === "tool_use" && isAnswer) return "stop";
  return FINISH_REASONS[String(stopReason)] ?? "stop";
}

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Reads Anthropic's usage, in which the tokens of the cache are not part of the input. */
export function messageUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const count = (name: string) => (typeof value[name] === "number" ? Number(value[name]) : 0);
  const cachedTokens = count("cache_read_input_tokens");
  const cacheWriteTokens = count("cache_creation_input_tokens");
  return {
    promptTokens: count("input_tokens") + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens: count("output_tokens"),
    reasoningTokens: 0,
  };
}

/** Converts {"type":"error","error":{"type","message"}} to OpenAI's format. Other bodies stay as they are. */
export function errorBody(body: Uint8Array): Uint8Array {
  const value = parsed(Buffer.from(body).toString());
  if (!isRecord(value) || !isRecord(value.error)) return body;
  const { type, message } = value.error;
  return Buffer.from(JSON.stringify({ error: { message, type, param: null, code: type } }));
}

/** HTTP status that corresponds to an error inside a stream. */
export function errorStatus(type: unknown): number {
  return ERROR_STATUS[String(type)] ?? 500;
}

const ERROR_STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};
