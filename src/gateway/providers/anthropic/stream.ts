import { createParser, type EventSourceParser } from "eventsource-parser";
import { isRecord, type Json } from "../../wire/json-value.ts";
import { UpstreamError } from "../upstream/error.ts";
import { refusal } from "../upstream/refusal.ts";
import type { Pass, Translation } from "../upstream/translation.ts";
import { type Usage, writeUsage } from "../upstream/usage.ts";
import { errorBody, errorStatus, finishReason, messageUsage } from "./terms.ts";

interface StreamSettings {
  readonly upstream: string;
  readonly answerTool: string | undefined;
  readonly wantsUsage: boolean;
  /** Seconds since 1970. */
  readonly created: number;
  readonly maxEventBytes: number;
}

/** A stream of Anthropic's events as OpenAI's chunks. */
export class AnthropicStream implements Translation {
  usage: Usage | undefined;
  events = 0;
  isDone = false;
  readonly #settings: StreamSettings;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** What is to be passed on of the bytes being read. */
  #out = "";
  #head: Json = {};
  /** By Anthropic's index of the block: the calls begun, with OpenAI's index of each. */
  readonly #calls = new Map<unknown, Call>();

  constructor(settings: StreamSettings) {
    this.#settings = settings;
    this.#parser = createParser({
      maxBufferSize: settings.maxEventBytes,
      onEvent: ({ data }) => this.#event(this.#parse(data)),
      onError: (error) => {
        if (error.type !== "max-buffer-size-exceeded") throw this.#broken("a line of no event");
        const most = `an event has more than ${settings.maxEventBytes} bytes`;
        throw new UpstreamError("too_large", settings.upstream, `sent too much: ${most}`);
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
    const problem = this.events === 0 ? "sent no answer" : "broke off its answer";
    throw new UpstreamError("broken", this.#settings.upstream, problem);
  }

  #flush(pass: Pass): void {
    if (this.#out !== "") pass(Buffer.from(this.#out));
    this.#out = "";
  }

  #parse(data: string): Json {
    try {
      const event: unknown = JSON.parse(data);
      if (isRecord(event)) return event;
    } catch {}
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
    this.#say({ role: "assistant", content: "" });
  }

  #startBlock(index: unknown, block: Json): void {
    if (block.type === "text" && block.text) this.#say({ content: block.text });
    if (block.type !== "tool_use") return;
    const isAnswer = block.name === this.#settings.answerTool;
    const others = [...this.#calls.values()].filter((call) => !call.isAnswer).length;
    this.#calls.set(index, { index: others, isAnswer, hasInput: false });
    if (isAnswer) return;
    const call = { name: block.name, arguments: "" };
    this.#say({ tool_calls: [{ index: others, id: block.id, type: "function", function: call }] });
  }

  #delta(index: unknown, delta: Json): void {
    if (delta.type === "text_delta") this.#say({ content: delta.text });
    else if (delta.type === "thinking_delta") this.#say({ reasoning_content: delta.thinking });
    else if (delta.type === "input_json_delta" && delta.partial_json !== "") {
      this.#input(index, String(delta.partial_json));
    }
  }

  #input(index: unknown, text: string): void {
    const call = this.#calls.get(index);
    if (!call) return; // of a tool that runs at the upstream
    call.hasInput = true;
    if (call.isAnswer) this.#say({ content: text });
    else this.#say({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  /** A call without arguments has no input at all, where OpenAI has {}. */
  #stopBlock(index: unknown): void {
    if (this.#calls.get(index)?.hasInput === false) this.#input(index, "{}");
  }

  #finish(delta: Json, counted: unknown): void {
    const usage = messageUsage(counted);
    if (usage && this.usage) {
      // The count at the end is of the output; some give the input anew as well.
      const { completionTokens } = usage;
      this.usage = { ...(usage.promptTokens > 0 ? usage : this.usage), completionTokens };
    }
    const isAnswer = [...this.#calls.values()].some((call) => call.isAnswer);
    if (delta.stop_reason) this.#say({}, finishReason(delta.stop_reason, isAnswer));
  }

  #stop(): void {
    if (this.#settings.wantsUsage && this.usage) {
      this.#write({ ...this.#head, choices: [], usage: writeUsage(this.usage) });
    }
    this.#out += "data: [DONE]\n\n";
    this.isDone = true;
  }

  #say(delta: Json, finish: string | null = null): void {
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
  readonly index: number;
  readonly isAnswer: boolean;
  hasInput: boolean;
}
