import type { ItemEvent } from "../codecs/items/event.ts";
import type { Item, Part } from "../codecs/items/item.ts";
import { NO_ORIGIN } from "../codecs/items/reasoning.ts";

/**
 * Items of an answer without anything that only some hosts write: ids, signatures, logprobs, members of one dialect. A
 * host's own words and its summaries of reasoning look alike, and reasoning without words is left out.
 */
export function anonymousItems(items: readonly Item[], callId: CallId): Item[] {
  const shown = items.filter((item) => item.type !== "reasoning" || hasWords(item));
  return shown.map((item, index) => {
    switch (item.type) {
      case "message":
        return { ...item, id: undefined, extra: undefined, content: item.content.map(plainPart) };
      case "reasoning": {
        const summary = [...item.summary, ...item.text];
        return { type: "reasoning", summary, text: [], signature: NO_ORIGIN };
      }
      case "function_call":
        return { ...item, id: undefined, callId: callId(index), extra: undefined };
      default:
        return item;
    }
  });
}

type CallId = (index: number) => string;

function hasWords({ summary, text }: Extract<Item, { type: "reasoning" }>): boolean {
  return [...summary, ...text].some((words) => words !== "");
}

function plainPart(part: Part): Part {
  if (part.type === "opaque") return part;
  const plain = { ...part, extra: undefined, cache: undefined };
  return plain.type === "text" ? { ...plain, logprobs: undefined } : plain;
}

/** Makes the events of a streamed answer anonymous, as `anonymousItems` does with complete items. */
export class AnonymousEvents {
  readonly #callId: CallId;
  /** Reasoning that has no words yet, by its index. */
  readonly #waiting = new Map<number, ItemEvent & { readonly type: "item" }>();
  /** Index of an item in the answer that is written, by its index in the host's. */
  readonly #indices = new Map<number, number>();
  /** Indices of reasoning in the answer that is written. */
  readonly #reasoning = new Set<number>();

  constructor(callId: CallId) {
    this.#callId = callId;
  }

  push(event: ItemEvent): ItemEvent[] {
    switch (event.type) {
      case "item":
        if (event.item.type !== "reasoning") return [this.#shown(event)];
        this.#waiting.set(event.index, event);
        return [];
      case "delta": {
        const waiting = this.#waiting.get(event.index);
        this.#waiting.delete(event.index);
        const begun = waiting ? [this.#shown(waiting)] : [];
        const kind = event.kind === "reasoning" ? "summary" : event.kind;
        const index = this.#indices.get(event.index) ?? 0;
        return [...begun, { ...event, kind, index, logprobs: undefined }];
      }
      case "done": {
        if (this.#waiting.delete(event.index)) return [];
        const index = this.#indices.get(event.index) ?? 0;
        const { type, choice } = event;
        const signature = this.#reasoning.has(index) ? NO_ORIGIN : undefined;
        return [{ type, choice, index, signature }];
      }
      default:
        return [event];
    }
  }

  #shown(event: ItemEvent & { readonly type: "item" }): ItemEvent {
    const index = this.#indices.size;
    this.#indices.set(event.index, index);
    const { item } = event;
    if (item.type === "reasoning") this.#reasoning.add(index);
    if (item.type === "function_call") {
      const own = { ...item, id: undefined, callId: this.#callId(index), extra: undefined };
      return { ...event, index, item: own };
    }
    return { ...event, index, item: item.type === "hosted" ? item : { ...item, id: undefined } };
  }
}
