import { isRecord, type Json } from "../../wire/json.ts";
import type { Usage } from "../items/answer.ts";
import type { StreamParser } from "../items/codec.ts";
import type { DeltaKind, Emit } from "../items/event.ts";
import type { Item } from "../items/item.ts";
import { num, readEvent, record, records, str } from "../items/read.ts";
import { originOf } from "../items/reasoning.ts";
import { legacyId, readCall } from "./messages.ts";
import { readContent, readThinking } from "./parts.ts";
import { readStop, readUsage } from "./usage.ts";

/** Highest number of choices that are read from a stream. No API sends as many. */
const MOST_CHOICES = 1024;

/** State of one choice. */
interface Open {
  /** Type of the open item; undefined if none is open. */
  type: Item["type"] | undefined;
  /** Number of items so far. */
  items: number;
  /** Part of the open message and its kind: a text and a refusal are different parts. */
  part: number;
  kind: DeltaKind | undefined;
  /** Index of the item of each call, by the index of the call on the wire. */
  readonly calls: Map<number, number>;
  stopped: boolean;
}

/**
 * Reads the chunks of a chat completion. A call ends where the next one begins, because upstreams send
 * calls one after the other.
 */
export class ChatStreamParser implements StreamParser {
  #model = "";
  #started = false;
  #ended = false;
  #usage: Usage | undefined;
  readonly #choices: Open[] = [];

  push(data: string, emit: Emit): void {
    if (data === "[DONE]") {
      this.end(emit);
      return;
    }
    const chunk = readEvent(data);
    if (!chunk || this.#ended) return;
    if (isRecord(chunk.error)) {
      const { message, type, code } = chunk.error;
      this.#ended = true;
      const error = { message: str(message) ?? "", type: str(type), code: str(code) };
      emit({ type: "error", error });
      return;
    }
    if (chunk.usage) this.#usage = readUsage(chunk.usage) ?? this.#usage;
    const { choices } = chunk;
    if (!Array.isArray(choices) || choices.length === 0) return;
    if (!this.#started) this.#start(chunk, emit); // Azure's first chunk has no choices and no id
    for (const choice of choices) if (isRecord(choice)) this.#choice(choice, emit);
  }

  /** The usage comes after the stop, so the end waits for [DONE] or for the end of the bytes. */
  end(emit: Emit): void {
    if (this.#ended || !this.#choices.some((open) => open.stopped)) return;
    this.#ended = true;
    emit({ type: "end", usage: this.#usage });
  }

  #start(chunk: Json, emit: Emit): void {
    this.#started = true;
    this.#model = str(chunk.model) ?? "";
    const created = num(chunk.created) || undefined;
    emit({ type: "start", id: str(chunk.id) ?? "", model: this.#model, created });
  }

  #choice(choice: Json, emit: Emit): void {
    const index = num(choice.index) ?? 0;
    // The index is a position in a list, so an upstream must not choose it freely.
    if (!Number.isInteger(index) || index < 0 || index >= MOST_CHOICES) return;
    this.#choices[index] ??= newChoice();
    const open = this.#choices[index];
    const delta = record(choice.delta);
    if (delta) {
      const { content } = delta;
      const reasoning = delta.reasoning_content ?? delta.reasoning ?? readThinking(content);
      if (reasoning) this.#text(index, open, "reasoning", reasoning, undefined, emit);
      const text = Array.isArray(content) ? textOf(content) : content;
      if (text) {
        const logprobs = choice.logprobs ? records(record(choice.logprobs)?.content) : undefined;
        this.#text(index, open, "text", text, logprobs, emit);
      }
      if (delta.refusal) this.#text(index, open, "refusal", delta.refusal, undefined, emit);
      if (delta.tool_calls) {
        for (const call of records(delta.tool_calls)) this.#call(index, open, call, emit);
      }
      const legacy = record(delta.function_call);
      if (legacy) this.#call(index, open, { function: legacy, id: legacyId(legacy.name) }, emit);
    }
    if (typeof choice.finish_reason !== "string" || open.stopped) return;
    this.#close(index, open, emit);
    open.stopped = true;
    emit({ type: "stop", choice: index, stop: readStop(choice.finish_reason) });
  }

  #text(
    choice: number,
    open: Open,
    kind: DeltaKind,
    text: unknown,
    logprobs: readonly Json[] | undefined,
    emit: Emit,
  ): void {
    if (typeof text !== "string") return;
    const type = kind === "reasoning" ? "reasoning" : "message";
    if (open.type !== type) this.#open(choice, open, EMPTY[type], emit);
    else if (open.kind !== kind) open.part++;
    open.kind = kind;
    const index = open.items - 1;
    emit({ type: "delta", choice, index, part: open.part, kind, text, logprobs });
  }

  #call(choice: number, open: Open, wire: Json, emit: Emit): void {
    const call = readCall(wire);
    const key = num(wire.index) ?? (call.name === "" ? open.calls.size - 1 : open.calls.size);
    if (!open.calls.has(key)) {
      this.#open(choice, open, { ...call, arguments: "", extra: undefined }, emit);
      open.calls.set(key, open.items - 1);
    }
    if (call.arguments === "") return;
    const index = open.calls.get(key)!;
    emit({ type: "delta", choice, index, part: 0, kind: "arguments", text: call.arguments });
  }

  #open(choice: number, open: Open, item: Item, emit: Emit): void {
    this.#close(choice, open, emit);
    open.type = item.type;
    open.part = 0;
    open.kind = undefined;
    emit({ type: "item", choice, index: open.items++, item });
  }

  #close(choice: number, open: Open, emit: Emit): void {
    if (open.type === undefined) return;
    const origin = open.type === "reasoning" ? originOf("chat", this.#model) : undefined;
    open.type = undefined;
    emit({ type: "done", choice, index: open.items - 1, origin });
  }
}

/** Text of content that comes in parts (Mistral). */
function textOf(content: unknown): string {
  const parts = readContent(content);
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const EMPTY = {
  message: { type: "message", role: "assistant", content: [] },
  reasoning: { type: "reasoning", summary: [], text: [] },
} as const;

function newChoice(): Open {
  return {
    type: undefined,
    items: 0,
    part: 0,
    kind: undefined,
    calls: new Map(),
    stopped: false,
  };
}
