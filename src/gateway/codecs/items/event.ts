import type { Json } from "../../wire/json.ts";
import type { AnswerError, Stop, Usage } from "./answer.ts";
import type { Item, Origin } from "./item.ts";

/** Text that grows in a stream. "summary" and "reasoning" belong to reasoning items. */
export type DeltaKind = "text" | "refusal" | "summary" | "reasoning" | "arguments";

/**
 * Events of a streamed answer in the internal form, in this order: start, then for each item
 * `item`, its deltas and `done`, then one `stop` per choice, then `end`. An error ends the stream
 * at any time. Items are numbered within their choice. A new `part` number in a delta begins a
 * part of the item; texts are never empty.
 */
export type ItemEvent =
  | StartEvent
  | ItemAddedEvent
  | DeltaEvent
  | ItemDoneEvent
  | StopEvent
  | EndEvent
  | ErrorEvent;

export interface StartEvent {
  readonly type: "start";
  readonly id: string;
  readonly model: string;
  readonly created?: number | undefined;
  /** Tokens of the prompt, if the upstream counts them before it answers. */
  readonly usage?: Usage | undefined;
}
interface ItemAddedEvent {
  readonly type: "item";
  readonly choice: number;
  readonly index: number;
  /** The item without its texts; a hosted item is complete. */
  readonly item: Item;
}
export interface DeltaEvent {
  readonly type: "delta";
  readonly choice: number;
  readonly index: number;
  readonly part: number;
  readonly kind: DeltaKind;
  readonly text: string;
  readonly logprobs?: readonly Json[] | undefined;
}
export interface ItemDoneEvent {
  readonly type: "done";
  readonly choice: number;
  readonly index: number;
  /** Set if the item is reasoning. */
  readonly signature?: string | undefined;
  readonly redacted?: boolean | undefined;
  readonly origin?: Origin | undefined;
}
interface StopEvent {
  readonly type: "stop";
  readonly choice: number;
  readonly stop: Stop;
}
export interface EndEvent {
  readonly type: "end";
  readonly usage?: Usage | undefined;
  /** See `Answer.completed`. */
  readonly completed?: number | undefined;
}
interface ErrorEvent {
  readonly type: "error";
  readonly error: AnswerError;
}

export type Emit = (event: ItemEvent) => void;

/** Replaces each item, which begins without its texts, by what `change` returns. */
export function mappingItems(change: (item: Item) => Item, emit: Emit): Emit {
  return (event) => emit(event.type === "item" ? { ...event, item: change(event.item) } : event);
}
