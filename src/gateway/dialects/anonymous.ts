import { changedAnswer } from "../codecs/items/accumulate.ts";
import type { Answer, Stop } from "../codecs/items/answer.ts";
import type { DeltaKind, ItemEvent } from "../codecs/items/event.ts";
import { NO_ORIGIN } from "../codecs/items/reasoning.ts";

type CallId = (index: number) => string;

/** The answer without anything that only some upstreams write. */
export function anonymousAnswer(answer: Answer, callId: CallId): Answer {
  return changedAnswer(answer, (emit) => {
    const events = new AnonymousEvents(callId);
    return (event) => events.push(event).forEach(emit);
  });
}

/**
 * The reason why an answer ended, among the reasons that every upstream can give: it is too long, it calls tools, or it is
 * finished. Only some upstreams name the stop sequence, a refusal or a pause, so these count as finished.
 */
function commonStop({ reason }: Stop, hasCalls: boolean): Stop {
  if (reason === "length" || reason === "context_length") return { reason: "length" };
  return { reason: hasCalls ? "tool_calls" : "end" };
}

/**
 * Removes from the events of an answer what only some upstreams write: ids, signatures, logprobs, members of one dialect. An
 * upstream's own words and its summaries of reasoning look alike, and so do texts and refusals. Items without words are
 * left out.
 */
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
      case "item": {
        const { item } = event;
        const isEmpty = item.type === "message" && item.content.length === 0;
        if (!isEmpty && item.type !== "reasoning") return [this.#shown(event)];
        this.#waiting.set(event.index, event);
        return [];
      }
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
