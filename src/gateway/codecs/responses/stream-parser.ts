import type { Json } from "../../wire/json.ts";
import { emptied, textsOf, UNSIGNED } from "../items/accumulate.ts";
import type { StreamParser } from "../items/codec.ts";
import type { DeltaKind, Emit } from "../items/event.ts";
import type { Item } from "../items/item.ts";
import { num, readEvent, record, records, str } from "../items/read.ts";
import { readStop, readUsage } from "./answer.ts";
import { readItem } from "./items.ts";

/** An item of the output that has begun. */
interface Open {
  readonly index: number;
  /** Whether a delta was passed on. Some upstreams send the text only when the item is done. */
  hasText: boolean;
}

/** Kind of the text of each event that carries text, and the member that numbers its part. */
const DELTAS: Readonly<Record<string, readonly [DeltaKind, string]>> = {
  "response.output_text.delta": ["text", "content_index"],
  "response.refusal.delta": ["refusal", "content_index"],
  "response.reasoning_summary_text.delta": ["summary", "summary_index"],
  "response.reasoning_text.delta": ["reasoning", "content_index"],
  "response.reasoning.delta": ["reasoning", "content_index"],
  "response.function_call_arguments.delta": ["arguments", ""],
  "response.custom_tool_call_input.delta": ["arguments", ""],
};

/** Reads the events of a streamed response. */
export class ResponsesStreamParser implements StreamParser {
  #model = "";
  #started = false;
  #ended = false;
  #items = 0;
  readonly #open = new Map<unknown, Open>();
  /** The last call of the answer, if there is one. The last event does not say whether there are calls. */
  #calls: Item[] = [];

  push(data: string, emit: Emit): void {
    const event = readEvent(data);
    if (!event || this.#ended) return;
    const type = String(event.type);
    const delta = DELTAS[type];
    if (delta) {
      const open = this.#open.get(event.output_index);
      const part = partOf(event[delta[1]]);
      if (open) this.#text(open, delta[0], part, event.delta, event.logprobs, emit);
      return;
    }
    switch (type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#start(record(event.response) ?? {}, emit);
        break;
      case "response.output_item.added":
        this.#added(event.output_index, record(event.item) ?? {}, emit);
        break;
      case "response.output_item.done":
        this.#done(event.output_index, record(event.item) ?? {}, emit);
        break;
      case "response.completed":
      case "response.incomplete":
        this.#finish(record(event.response) ?? {}, emit);
        break;
      case "response.failed":
        this.#fail(record(record(event.response)?.error) ?? {}, emit);
        break;
      case "error":
        this.#fail(record(event.error) ?? event, emit);
    }
  }

  end(): void {}

  #start(response: Json, emit: Emit): void {
    if (this.#started) return;
    this.#started = true;
    this.#model = str(response.model) ?? "";
    const created = num(response.created_at) || undefined;
    emit({ type: "start", id: str(response.id) ?? "", model: this.#model, created });
  }

  #added(key: unknown, wire: Json, emit: Emit): void {
    const item = readItem(wire, this.#model);
    if (item.type === "hosted" || this.#open.has(key)) return; // a hosted item is passed on when it is complete
    this.#begin(key, emptied(item), emit);
  }

  #begin(key: unknown, item: Item, emit: Emit): Open {
    this.#start({}, emit); // if the upstream left out the first event
    const open = { index: this.#items++, hasText: false };
    this.#open.set(key, open);
    if (item.type === "function_call") this.#calls = [item];
    emit({ type: "item", choice: 0, index: open.index, item });
    return open;
  }

  #text(
    open: Open,
    kind: DeltaKind,
    part: number,
    text: unknown,
    logprobs: unknown,
    emit: Emit,
  ): void {
    if (typeof text !== "string" || text === "") return;
    open.hasText = true;
    const list = Array.isArray(logprobs) && logprobs.length > 0 ? records(logprobs) : undefined;
    emit({ type: "delta", choice: 0, index: open.index, part, kind, text, logprobs: list });
  }

  #done(key: unknown, wire: Json, emit: Emit): void {
    const item = readItem(wire, this.#model);
    const open = this.#open.get(key) ?? this.#begin(key, emptied(item), emit);
    if (!open.hasText) {
      for (const { kind, part, text } of textsOf(item)) {
        this.#text(open, kind, part, text, undefined, emit);
      }
    }
    this.#open.delete(key);
    const { signature, redacted, origin } = item.type === "reasoning" ? item : UNSIGNED;
    emit({ type: "done", choice: 0, index: open.index, signature, redacted, origin });
  }

  #finish(response: Json, emit: Emit): void {
    this.#start(response, emit);
    this.#ended = true;
    emit({ type: "stop", choice: 0, stop: readStop(response, this.#calls) });
    emit({ type: "end", usage: readUsage(response.usage) });
  }

  #fail({ message, code, type }: Json, emit: Emit): void {
    this.#ended = true;
    const kind = type === "error" ? undefined : str(type);
    emit({ type: "error", error: { message: str(message) ?? "", code: str(code), type: kind } });
  }
}

/** Number of a part. It is a position in a list, so an upstream must not choose it freely. */
function partOf(index: unknown): number {
  const part = num(index) ?? 0;
  return Number.isInteger(part) && part >= 0 && part < MOST_PARTS ? part : 0;
}

/** Highest number of parts of an item. No API sends as many. */
const MOST_PARTS = 1024;
