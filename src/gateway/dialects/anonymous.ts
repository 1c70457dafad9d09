import type { Choice, Stop } from "../codecs/items/answer.ts";
import type { DeltaKind, ItemEvent } from "../codecs/items/event.ts";
import type { Item, Part } from "../codecs/items/item.ts";
import { NO_ORIGIN } from "../codecs/items/reasoning.ts";

/**
 * An answer without anything that only some upstreams write: ids, signatures, logprobs, members of one dialect. An upstream's own
 * words and its summaries of reasoning look alike, and so do texts and refusals. Items without words are left out.
 */
export function anonymousChoice({ items, stop }: Choice, callId: CallId): Choice {
  const shown = items.map(withoutTraces).filter(hasContent);
  const hasCalls = shown.some(({ type }) => type === "function_call");
  return {
    items: shown.map((item, index) =>
      item.type === "function_call" ? { ...item, callId: callId(index) } : item,
    ),
    stop: commonStop(stop, hasCalls),
  };
}

type CallId = (index: number) => string;

/** The item without the members that reveal its upstream. */
function withoutTraces(item: Item): Item {
  switch (item.type) {
    case "message":
      return { ...item, id: undefined, extra: undefined, content: plainParts(item.content) };
    case "reasoning": {
      const summary = [...item.summary, ...item.text];
      return { type: "reasoning", summary, text: [], signature: NO_ORIGIN };
    }
    case "function_call":
      return { ...item, id: undefined, extra: undefined };
    default:
      return item;
  }
}

function hasContent(item: Item): boolean {
  if (item.type === "message") return item.content.length > 0;
  return item.type !== "reasoning" || item.summary.some((words) => words !== "");
}

/** Parts of a message. Texts and refusals that follow each other become one text, because chat upstreams give only one. */
function plainParts(parts: readonly Part[]): Part[] {
  const plain: Part[] = [];
  for (const part of parts) {
    if (part.type === "opaque") plain.push(part);
    else if (part.type !== "text" && part.type !== "refusal") {
      plain.push({ ...part, extra: undefined, cache: undefined });
    } else if (part.text !== "") {
      const last = plain.at(-1);
      if (last?.type !== "text") plain.push({ type: "text", text: part.text });
      else plain[plain.length - 1] = { type: "text", text: last.text + part.text };
    }
  }
  return plain;
}

/**
 * The reason why an answer ended, among the reasons that every upstream can give: it is too long, it calls tools, or it is
 * finished. Only some upstreams name the stop sequence, a refusal or a pause, so these count as finished.
 */
function commonStop({ reason }: Stop, hasCalls: boolean): Stop {
  if (reason === "length" || reason === "context_length") return { reason: "length" };
  return { reason: hasCalls ? "tool_calls" : "end" };
}

/** Makes the events of a streamed answer anonymous, as `anonymousChoice` does with a complete answer. */
export class AnonymousEvents {
  readonly #callId: CallId;
  /** Messages and reasoning that have no words yet, by their index. */
  readonly #waiting = new Map<number, ItemEvent & { readonly type: "item" }>();
  /** Index of an item in the answer that is written, by its index in the upstream's. */
  readonly #indices = new Map<number, number>();
  /** Indices of reasoning in the answer that is written. */
  readonly #reasoning = new Set<number>();
  #hasCalls = false;

  constructor(callId: CallId) {
    this.#callId = callId;
  }

  push(event: ItemEvent): ItemEvent[] {
    switch (event.type) {
      case "item":
        if (event.item.type !== "reasoning" && event.item.type !== "message") {
          return [this.#shown(event)];
        }
        this.#waiting.set(event.index, event);
        return [];
      case "delta": {
        const waiting = this.#waiting.get(event.index);
        this.#waiting.delete(event.index);
        const begun = waiting ? [this.#shown(waiting)] : [];
        const kind = COMMON_KINDS[event.kind];
        const part = kind === "text" ? 0 : event.part;
        const index = this.#indices.get(event.index) ?? 0;
        return [...begun, { ...event, kind, part, index, logprobs: undefined }];
      }
      case "done": {
        if (this.#waiting.delete(event.index)) return [];
        const index = this.#indices.get(event.index) ?? 0;
        const { type, choice } = event;
        const signature = this.#reasoning.has(index) ? NO_ORIGIN : undefined;
        return [{ type, choice, index, signature }];
      }
      case "stop":
        return [{ ...event, stop: commonStop(event.stop, this.#hasCalls) }];
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
      this.#hasCalls = true;
      const own = { ...item, id: undefined, callId: this.#callId(index), extra: undefined };
      return { ...event, index, item: own };
    }
    return { ...event, index, item: item.type === "hosted" ? item : { ...item, id: undefined } };
  }
}

/** Kind of a text that every upstream can write, by the kind that an upstream wrote. */
const COMMON_KINDS: Readonly<Record<DeltaKind, DeltaKind>> = {
  text: "text",
  refusal: "text",
  summary: "summary",
  reasoning: "summary",
  arguments: "arguments",
};
