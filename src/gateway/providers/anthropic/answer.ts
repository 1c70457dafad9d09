import { isRecord, type Json } from "../../wire/json-value.ts";
import { UpstreamError } from "../upstream/error.ts";
import type { Pass, Translation } from "../upstream/translation.ts";
import { type Usage, writeUsage } from "../upstream/usage.ts";
import { finishReason, messageUsage } from "./terms.ts";

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
