import { createParser, type EventSourceParser } from "eventsource-parser";
import { isRecord, type Json, parsed } from "../../wire/json.ts";
import { refusal, UpstreamError } from "../upstream/error.ts";
import type { Pass, Translation } from "../upstream/upstream.ts";
import { type Usage, writeUsage } from "../upstream/usage.ts";
import { errorBody, errorStatus, finishReason, messageUsage } from "./answer.ts";

interface StreamSettings {
  readonly upstream: string;
  readonly answerTool: string | undefined;
  readonly wantsUsage: boolean;
  /** Seconds since 1970. */
  readonly created: number;
  readonly maxEventBytes: number;
}

/** Translates a stream of Anthropic's events to OpenAI's chunks. */
export class AnthropicStream implements Translation {
  usage: Usage | undefined;
  events = 0;
  isDone = false;
  readonly #settings: StreamSettings;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** Chunks to pass on after the present bytes have been read. */
  #out = "";
  #head: Json = {};
  /** Calls that have begun, by Anthropic's index of the block. */
  readonly #calls = new Map<unknown, Call>();

  constructor(settings: StreamSettings) {
    this.#settings = settings;
    this.#parser = createParser({
      maxBufferSize: settings.maxEventBytes,
      onEvent: ({ data }) => this.#event(this.#parse(data)),
      onError: (error) => {
        if (error.type !== "max-buffer-size-exceeded")
          throw this.#broken("a line that belongs to no event");
        const problem = `sent too much: an event has more than ${settings.maxEventBytes} bytes`;
        throw new UpstreamError("too_large", settings.upstream, problem);
      },
    });
  }

  push(chunk: Buffer, pass: Pass): void {
    try {
      this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    } finally {
      this.#flush(pass);
    }
  }

  end(pass: Pass): void {
    this.#flush(pass);
    if (this.isDone) return;
    const problem = this.events === 0 ? "sent no answer" : "sent an incomplete answer";
    throw new UpstreamError("broken", this.#settings.upstream, problem);
  }

  #flush(pass: Pass): void {
    if (this.#out !== "") pass(Buffer.from(this.#out));
    this.#out = "";
  }

  #parse(data: string): Json {
    const event = parsed(data);
    if (isRecord(event)) return event;
    throw this.#broken("a broken event");
  }

  #event(event: Json): void {
    const { index, delta, content_block: block } = event;
    switch (event.type) {
      case "message_start":
        this.#start(isRecord(event.message) ? event.message : {});
        break;
      case "content_block_start":
        if (isRecord(block)) this.#startBlock(index, block);
        break;
      case "content_block_delta":
        if (isRecord(delta)) this.#delta(index, delta);
        break;
      case "content_block_stop":
        this.#stopBlock(index);
        break;
      case "message_delta":
        this.#finish(isRecord(delta) ? delta : {}, event.usage);
        break;
      case "message_stop":
        this.#stop();
        break;
      case "error":
        throw this.#refusal(event);
    }
  }

  #start(message: Json): void {
    const { created } = this.#settings;
    this.#head = { id: message.id, object: "chat.completion.chunk", created, model: message.model };
    this.usage = messageUsage(message.usage);
    this.#chunk({ role: "assistant", content: "" });
  }

  #startBlock(index: unknown, block: Json): void {
    if (block.type === "text" && block.text) this.#chunk({ content: block.text });
    if (block.type !== "tool_use") return;
    const isAnswer = block.name === this.#settings.answerTool;
    const others = [...this.#calls.values()].filter((call) => !call.isAnswer).length;
    this.#calls.set(index, { index: others, isAnswer, hasInput: false });
    if (isAnswer) return;
    const call = { name: block.name, arguments: "" };
    this.#chunk({
      tool_calls: [{ index: others, id: block.id, type: "function", function: call }],
    });
  }

  #delta(index: unknown, delta: Json): void {
    if (delta.type === "text_delta") this.#chunk({ content: delta.text });
    else if (delta.type === "thinking_delta") this.#chunk({ reasoning_content: delta.thinking });
    else if (delta.type === "input_json_delta" && delta.partial_json !== "") {
      this.#input(index, String(delta.partial_json));
    }
  }

  #input(index: unknown, text: string): void {
    const call = this.#calls.get(index);
    if (!call) return; // the tool runs at the upstream
    call.hasInput = true;
    if (call.isAnswer) this.#chunk({ content: text });
    else this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  /** A call without arguments has no input at Anthropic, and {} at OpenAI. */
  #stopBlock(index: unknown): void {
    if (this.#calls.get(index)?.hasInput === false) this.#input(index, "{}");
  }

  #finish(delta: Json, counted: unknown): void {
    const usage = messageUsage(counted);
    if (usage && this.usage) {
      // The last count has the output; some hosts repeat the input as well.
      const { completionTokens } = usage;
      this.usage = { ...(usage.promptTokens > 0 ? usage : this.usage), completionTokens };
    }
    const isAnswer = [...this.#calls.values()].some((call) => call.isAnswer);
    if (delta.stop_reason) this.#chunk({}, finishReason(delta.stop_reason, isAnswer));
  }

  #stop(): void {
    if (this.#settings.wantsUsage && this.usage) {
      this.#write({ ...this.#head, choices: [], usage: writeUsage(this.usage) });
    }
    this.#out += "data: [DONE]\n\n";
    this.isDone = true;
  }

  #chunk(delta: Json, finish: string | null = null): void {
    this.#write({
      ...this.#head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
    this.events++;
  }

  #write(chunk: Json): void {
    this.#out += `data: ${JSON.stringify(chunk)}\n\n`;
  }

  #refusal(event: Json): UpstreamError {
    const status = errorStatus(isRecord(event.error) ? event.error.type : undefined);
    const body = errorBody(Buffer.from(JSON.stringify(event)));
    return refusal(this.#settings.upstream, status, body, {});
  }

  #broken(what: string): UpstreamError {
    return new UpstreamError("broken", this.#settings.upstream, `sent ${what}`);
  }
}

interface Call {
  /** OpenAI's index of the call. */
  readonly index: number;
  /** Whether the tool's input is the answer itself. */
  readonly isAnswer: boolean;
  hasInput: boolean;
}
