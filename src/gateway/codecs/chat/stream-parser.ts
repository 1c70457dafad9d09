import { isRecord, type Json } from "../../wire/json.ts";
import type { Stop, Usage } from "../items/answer.ts";
import type { StreamParser } from "../items/codec.ts";
import type { DeltaKind, Emit } from "../items/event.ts";
import type { FunctionCallItem, Item } from "../items/item.ts";
import { num, parseJson, readEvent, record, records, str } from "../items/read.ts";
import { originOf } from "../items/reasoning.ts";
import { legacyId, readCall } from "./messages.ts";
import { readContent, readThinking } from "./parts.ts";
import { isFinishReason, readStop, readUsage } from "./usage.ts";

/** Highest number of choices that are read from a stream. No API sends as many. */
const MOST_CHOICES = 1024;

/** A call of a tool. */
interface Call {
  readonly item: FunctionCallItem;
  /** Arguments so far. */
  text: string;
  /** Index of its item; undefined while the call waits for the one before. */
  index: number | undefined;
}

/** State of one choice. */
interface Open {
  /** Type of the open item; undefined if none is open. */
  type: Item["type"] | undefined;
  /** Number of items so far. */
  items: number;
  /** Part of the open message and its kind: a text and a refusal are different parts. */
  part: number;
  kind: DeltaKind | undefined;
  /** Calls by their index on the wire. */
  readonly calls: Map<number, Call>;
  /** The call whose item is open. */
  call: Call | undefined;
  /** Calls that began before the arguments of the open call were complete. */
  readonly waiting: Call[];
  /** Why the answer ended. Some upstreams give a reason in every chunk, so the last one counts. */
  stop: Stop | undefined;
}

/**
 * Reads the chunks of a chat completion. Most upstreams send parallel calls one after the other, and a call
 * ends where the next one begins. If an upstream mixes them, the later ones wait until the arguments of the
 * open one are complete.
 */
export class ChatStreamParser implements StreamParser {
  #model = "";
  #started = false;
  #ended = false;
  #usage: Usage | undefined;
  readonly #choices: Open[] = [];

  push(data: string, emit: Emit): void {
    if (data === "[DONE]") {
      this.#finish(emit);
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

  end(emit: Emit): void {
    if (this.#choices.some(({ stop }) => stop)) this.#finish(emit);
  }

  /** Ends all choices at the end of the stream: text and usage may follow a finish_reason, and some upstreams send none. */
  #finish(emit: Emit): void {
    if (this.#ended || this.#choices.length === 0) return;
    this.#ended = true;
    this.#choices.forEach((open, choice) => {
      this.#beginWaiting(choice, open, true, emit);
      this.#close(choice, open, emit);
      emit({ type: "stop", choice, stop: open.stop ?? { reason: "end" } });
    });
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
    if (isFinishReason(choice.finish_reason)) open.stop = readStop(choice.finish_reason);
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
    if (open.type !== type) {
      this.#beginWaiting(choice, open, true, emit);
      this.#open(choice, open, EMPTY[type], emit);
    } else if (open.kind !== kind) open.part++;
    open.kind = kind;
    const index = open.items - 1;
    emit({ type: "delta", choice, index, part: open.part, kind, text, logprobs });
  }

  #call(choice: number, open: Open, wire: Json, emit: Emit): void {
    const read = readCall(wire);
    const key = num(wire.index) ?? (read.name === "" ? open.calls.size - 1 : open.calls.size);
    let call = open.calls.get(key);
    if (!call || isOther(read, call.item)) {
      const item = { ...read, arguments: "", extra: undefined };
      call = { item, text: "", index: undefined };
      open.calls.set(key, call);
      open.waiting.push(call);
    }
    call.text += read.arguments;
    if (call.index !== undefined) emitArguments(choice, call.index, read.arguments, emit);
    this.#beginWaiting(choice, open, false, emit);
  }

  /** Opens the items of waiting calls: all of them, or those before which no call is incomplete. */
  #beginWaiting(choice: number, open: Open, all: boolean, emit: Emit): void {
    while (open.waiting.length > 0 && (all || !open.call || isComplete(open.call))) {
      const call = open.waiting.shift()!;
      this.#open(choice, open, call.item, emit);
      call.index = open.items - 1;
      open.call = call;
      emitArguments(choice, call.index, call.text, emit);
    }
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
    open.call = undefined;
    emit({ type: "done", choice, index: open.items - 1, origin });
  }
}

/** Some servers send every parallel call with the index 0; a name and another id begin a new one. */
function isOther(read: FunctionCallItem, known: FunctionCallItem): boolean {
  return read.name !== "" && read.callId !== "" && read.callId !== known.callId;
}

function isComplete({ item, text }: Call): boolean {
  return item.custom === true || (text.trimEnd().endsWith("}") && parseJson(text) !== undefined);
}

function emitArguments(choice: number, index: number, text: string, emit: Emit): void {
  if (text === "") return;
  emit({ type: "delta", choice, index, part: 0, kind: "arguments", text });
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
    call: undefined,
    waiting: [],
    stop: undefined,
  };
}
