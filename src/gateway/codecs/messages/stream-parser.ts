import { isRecord, type Json } from "../../wire/json.ts";
import { type Usage, usageAfter } from "../items/answer.ts";
import type { StreamParser } from "../items/codec.ts";
import type { DeltaKind, Emit } from "../items/event.ts";
import type { Item, ReasoningItem } from "../items/item.ts";
import { parseJson, readEvent, record, str } from "../items/read.ts";
import { readSignature } from "../items/reasoning.ts";
import { readStop, readUsage } from "./answer.ts";
import { readItem } from "./messages.ts";

/** Reads the events of a streamed message. */
export class MessagesStreamParser implements StreamParser {
  #model = "";
  #started = false;
  #ended = false;
  #usage: Usage | undefined;
  /** Number of items so far. */
  #items = 0;
  /** The item that is open; a message stays open until another item begins. */
  #open: Item | undefined;
  #part = 0;
  /** Whether a block of text has begun and no text has come yet. */
  #isNewText = false;
  /** Signature of the open reasoning, and whether the reasoning has no text besides it. */
  #signature = "";
  #redacted = false;
  /** JSON text of the input, and whether any was passed on. */
  #input = "";
  /** Block that runs at the provider and its text so far. */
  #hosted: Json | undefined;

  push(data: string, emit: Emit): void {
    const event = readEvent(data);
    if (!event || this.#ended) return;
    switch (event.type) {
      case "content_block_delta":
        if (isRecord(event.delta)) this.#delta(event.delta, emit);
        break;
      case "content_block_start":
        if (isRecord(event.content_block)) this.#block(event.content_block, emit);
        break;
      case "content_block_stop":
        this.#stopBlock(emit);
        break;
      case "message_start":
        this.#start(record(event.message) ?? {}, emit);
        break;
      case "message_delta":
        this.#finish(event, emit);
        break;
      case "message_stop":
        this.#end(emit);
        break;
      case "error": {
        const { message, type } = record(event.error) ?? {};
        this.#ended = true;
        emit({ type: "error", error: { message: str(message) ?? "", type: str(type) } });
      }
    }
  }

  end(): void {}

  #start(message: Json, emit: Emit): void {
    if (this.#started) return; // some upstreams repeat the event
    this.#started = true;
    this.#model = str(message.model) ?? "";
    this.#usage = readUsage(message.usage);
    const { promptTokens = 0 } = this.#usage ?? {};
    const usage = promptTokens > 0 ? this.#usage : undefined;
    emit({ type: "start", id: str(message.id) ?? "", model: this.#model, usage });
  }

  #block(block: Json, emit: Emit): void {
    const item = readItem(block, "assistant", this.#model);
    if (!item) {
      this.#isNewText = true;
      this.#text("text", str(block.text), emit);
      return;
    }
    this.#close(emit);
    this.#input = "";
    if (item.type === "hosted") {
      this.#hosted = item.value;
    } else if (item.type === "reasoning") {
      const { redacted, summary } = item;
      this.#openItem({ type: "reasoning", summary: [], text: [] }, emit);
      this.#redacted = redacted === true;
      this.#signature = str(block.signature) ?? str(block.data) ?? "";
      this.#text("summary", summary[0], emit);
    } else {
      this.#openItem({ ...item, arguments: "", extra: undefined } as Item, emit);
      if (isRecord(block.input) && Object.keys(block.input).length > 0) {
        this.#text("arguments", JSON.stringify(block.input), emit);
      }
    }
  }

  #delta(delta: Json, emit: Emit): void {
    switch (delta.type) {
      case "text_delta":
        this.#text("text", delta.text, emit);
        break;
      case "input_json_delta":
        if (this.#hosted) this.#input += str(delta.partial_json) ?? "";
        else this.#text("arguments", delta.partial_json, emit);
        break;
      case "thinking_delta":
        this.#text("summary", delta.thinking, emit);
        break;
      case "signature_delta":
        this.#signature += str(delta.signature) ?? "";
    }
  }

  #text(kind: DeltaKind, text: unknown, emit: Emit): void {
    if (typeof text !== "string" || text === "") return;
    if (kind === "text" && this.#isNewText) this.#beginText(emit);
    if (!this.#open) return;
    if (kind === "arguments") this.#input = text;
    emit({ type: "delta", choice: 0, index: this.#items - 1, part: this.#part, kind, text });
  }

  /** A block without text is left out, so its item or part begins with its first text. */
  #beginText(emit: Emit): void {
    this.#isNewText = false;
    if (this.#open?.type === "message") this.#part++;
    else this.#openItem({ type: "message", role: "assistant", content: [] }, emit);
  }

  #stopBlock(emit: Emit): void {
    if (this.#hosted) {
      const input = parseJson(this.#input);
      const value = input === undefined ? this.#hosted : { ...this.#hosted, input };
      this.#hosted = undefined;
      this.#openItem({ type: "hosted", dialect: "messages", value }, emit);
      this.#close(emit);
    } else if (this.#open?.type !== "message") this.#close(emit);
  }

  #openItem(item: Item, emit: Emit): void {
    this.#start({}, emit); // if the upstream left out the first event
    this.#close(emit);
    this.#open = item;
    this.#part = 0;
    emit({ type: "item", choice: 0, index: this.#items++, item });
  }

  #close(emit: Emit): void {
    const open = this.#open;
    if (!open) return;
    // A call without arguments has no input here, and {} in the other dialects.
    if (open.type === "function_call" && this.#input === "") this.#text("arguments", "{}", emit);
    this.#open = undefined;
    emit({ type: "done", choice: 0, index: this.#items - 1, ...this.#signed(open) });
    this.#signature = "";
  }

  #signed(open: Item): Partial<Pick<ReasoningItem, "signature" | "redacted" | "origin">> {
    if (open.type !== "reasoning") return {};
    const signed = readSignature(this.#signature, "messages", this.#model);
    return this.#redacted ? { ...signed, redacted: true } : signed;
  }

  /** The last event has the output tokens; some upstreams count the input only there. */
  #finish({ delta, usage }: Json, emit: Emit): void {
    this.#usage = usageAfter(this.#usage, readUsage(usage));
    this.#close(emit);
    if (!isRecord(delta) || typeof delta.stop_reason !== "string") return;
    emit({ type: "stop", choice: 0, stop: readStop(delta) });
  }

  #end(emit: Emit): void {
    this.#close(emit);
    this.#ended = true;
    emit({ type: "end", usage: this.#usage });
  }
}
