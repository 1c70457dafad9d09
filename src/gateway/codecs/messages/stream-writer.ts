import type { Json } from "../../wire/json.ts";
import type { Stop } from "../items/answer.ts";
import { type StreamWriter, sse } from "../items/codec.ts";
import { customArguments } from "../items/custom.ts";
import type { DeltaEvent, ItemDoneEvent, ItemEvent, StartEvent } from "../items/event.ts";
import type { Item } from "../items/item.ts";
import { writeSignature } from "../items/reasoning.ts";
import { messageHead, NO_USAGE, writeStop, writeUsage } from "./answer.ts";
import { writeCall, writeThinking } from "./messages.ts";

/** Writes the events of a streamed message. Only the first choice is written. */
export class MessagesStreamWriter implements StreamWriter {
  /** Number of blocks so far. */
  #blocks = 0;
  /** Block of each call, by the index of its item; late deltas of parallel calls find it here. */
  readonly #calls = new Map<number, number>();
  /** Item and part of the open block of text or thinking. */
  #open: { readonly index: number; readonly part: number } | undefined;
  #item: Item | undefined;
  /** Part of the thinking that was written last, to separate paragraphs. */
  #paragraph = "";
  /** Input of a custom tool so far. */
  #custom = "";
  #stop: Stop = { reason: "end" };

  write(event: ItemEvent): string {
    if ("choice" in event && event.choice > 0) return "";
    switch (event.type) {
      case "delta":
        return this.#delta(event);
      case "start":
        return this.#start(event);
      case "item":
        return this.#begin(event.index, event.item);
      case "done":
        return this.#done(event);
      case "stop":
        this.#stop = event.stop;
        return "";
      case "end": {
        const usage = JSON.stringify(writeUsage(event.usage ?? NO_USAGE));
        const delta = JSON.stringify(writeStop(this.#stop, this.#calls.size > 0));
        const last = sse(
          "message_delta",
          `{"type":"message_delta","delta":${delta},"usage":${usage}}`,
        );
        return last + sse("message_stop", '{"type":"message_stop"}');
      }
      case "error": {
        const { type = "api_error", ...details } = event.error;
        const error = { type: ERROR_TYPES[type] ?? type, ...details };
        return sse("error", JSON.stringify({ type: "error", error }));
      }
    }
  }

  #start(event: StartEvent): string {
    const message = {
      ...messageHead(event),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage(event.usage ?? NO_USAGE),
    };
    return sse("message_start", JSON.stringify({ type: "message_start", message }));
  }

  #begin(index: number, item: Item): string {
    this.#item = item;
    if (item.type === "function_call") {
      this.#custom = "";
      this.#calls.set(index, this.#blocks);
      return this.#startBlock(writeCall(item));
    }
    if (item.type !== "hosted" || item.dialect !== "messages") return "";
    return this.#hosted(item.value);
  }

  /** Writes a complete block. Its input is a delta, as in the stream of a call. */
  #hosted(value: Json): string {
    const { input, ...rest } = value;
    const block = this.#blocks;
    if (input === undefined) return this.#startBlock(value) + stopBlock(block);
    const partial = JSON.stringify(JSON.stringify(input));
    return (
      this.#startBlock({ ...rest, input: {} }) +
      deltaOf(block, `"type":"input_json_delta","partial_json":${partial}`) +
      stopBlock(block)
    );
  }

  #delta({ index, part, kind, text }: DeltaEvent): string {
    if (kind === "arguments") {
      if (this.#item?.type === "function_call" && this.#item.custom) {
        this.#custom += text;
        return "";
      }
      const block = this.#calls.get(index) ?? 0;
      return deltaOf(block, `"type":"input_json_delta","partial_json":${JSON.stringify(text)}`);
    }
    const isThinking = kind === "summary" || kind === "reasoning";
    let before = "";
    // All parts of reasoning are paragraphs of one block; each text is a block of its own.
    if (this.#open?.index !== index || (!isThinking && this.#open.part !== part)) {
      before = this.#close() + this.#startBlock(isThinking ? THINKING : TEXT);
      this.#open = { index, part };
      this.#paragraph = "";
    }
    const block = this.#blocks - 1;
    if (!isThinking)
      return before + deltaOf(block, `"type":"text_delta","text":${JSON.stringify(text)}`);
    const paragraph = `${kind} ${part}`;
    const gap = this.#paragraph !== "" && this.#paragraph !== paragraph ? "\n\n" : "";
    this.#paragraph = paragraph;
    const value = JSON.stringify(gap + text);
    return before + deltaOf(block, `"type":"thinking_delta","thinking":${value}`);
  }

  #done(event: ItemDoneEvent): string {
    const item = this.#item;
    if (item?.type === "reasoning") return this.#doneReasoning(event);
    if (item?.type !== "function_call") return this.#close();
    const block = this.#calls.get(event.index) ?? 0;
    if (!item.custom) return stopBlock(block);
    const partial = JSON.stringify(JSON.stringify(customArguments(this.#custom)));
    return deltaOf(block, `"type":"input_json_delta","partial_json":${partial}`) + stopBlock(block);
  }

  #doneReasoning(event: ItemDoneEvent): string {
    const { redacted, origin } = event;
    if (redacted && origin?.dialect === "messages") {
      const block = this.#blocks;
      const thinking = writeThinking({ ...event, type: "reasoning", summary: [], text: [] });
      return this.#startBlock(thinking) + stopBlock(block);
    }
    const before = this.#open ? "" : this.#startBlock(THINKING);
    this.#open ??= { index: event.index, part: 0 };
    const signature = JSON.stringify(writeSignature(event, "messages"));
    const block = this.#blocks - 1;
    return (
      before + deltaOf(block, `"type":"signature_delta","signature":${signature}`) + this.#close()
    );
  }

  #close(): string {
    if (!this.#open) return "";
    this.#open = undefined;
    return stopBlock(this.#blocks - 1);
  }

  #startBlock(block: Json): string {
    const json = JSON.stringify(block);
    const index = this.#blocks++;
    return sse(
      "content_block_start",
      `{"type":"content_block_start","index":${index},"content_block":${json}}`,
    );
  }
}

/** Anthropic's names for types of OpenAI's errors. */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  server_error: "api_error",
  upstream_error: "api_error",
  insufficient_quota: "billing_error",
};

const TEXT = { type: "text", text: "" };
const THINKING = { type: "thinking", thinking: "", signature: "" };

function deltaOf(block: number, members: string): string {
  return sse(
    "content_block_delta",
    `{"type":"content_block_delta","index":${block},"delta":{${members}}}`,
  );
}

function stopBlock(block: number): string {
  return sse("content_block_stop", `{"type":"content_block_stop","index":${block}}`);
}
