import type { Json } from "../../wire/json.ts";
import type { Answer, AnswerError, Choice } from "./answer.ts";
import type {
  DeltaEvent,
  DeltaKind,
  Emit,
  EndEvent,
  ItemDoneEvent,
  ItemEvent,
  StartEvent,
} from "./event.ts";
import type { Item, Part } from "./item.ts";

/** The item without its texts, as a stream begins it. Other parts, such as images, stay. */
export function emptied(item: Item): Item {
  switch (item.type) {
    case "message": {
      const content = item.content.filter(({ type }) => type !== "text" && type !== "refusal");
      return { type: "message", id: item.id, role: item.role, content };
    }
    case "reasoning":
      return { type: "reasoning", id: item.id, summary: [], text: [] };
    case "function_call":
      return { ...item, arguments: "", cache: undefined, extra: undefined };
    default:
      return item;
  }
}

type Text = Pick<DeltaEvent, "kind" | "part" | "text" | "logprobs">;

/** Texts of an item, each as one delta. */
export function textsOf(item: Item): Text[] {
  const texts = (kind: DeltaKind, all: readonly string[]): Text[] =>
    all.map((text, part) => ({ kind, part, text }));
  switch (item.type) {
    case "message":
      return item.content.flatMap((each, part): Text[] =>
        each.type === "text"
          ? [{ kind: "text", part, text: each.text, logprobs: each.logprobs }]
          : each.type === "refusal"
            ? [{ kind: "refusal", part, text: each.text }]
            : [],
      );
    case "reasoning":
      return [...texts("reasoning", item.text), ...texts("summary", item.summary)];
    case "function_call":
      return texts("arguments", [item.arguments]);
    default:
      return [];
  }
}

/** The events of a stream that gives this answer. Members of the slot `extra` are left out. */
export function* eventsOf(answer: Answer): Generator<ItemEvent> {
  const { id, model, created, error } = answer;
  yield { type: "start", id, model, created };
  for (const [choice, { items, stop }] of answer.choices.entries()) {
    for (const [index, item] of items.entries()) {
      yield { type: "item", choice, index, item: emptied(item) };
      for (const text of textsOf(item)) {
        if (text.text !== "") yield { type: "delta", choice, index, ...text };
      }
      const { signature, redacted, origin } = item.type === "reasoning" ? item : UNSIGNED;
      yield { type: "done", choice, index, signature, redacted, origin };
    }
    yield { type: "stop", choice, stop };
  }
  if (error) yield { type: "error", error };
  else yield { type: "end", usage: answer.usage };
}

export const UNSIGNED = { signature: undefined, redacted: undefined, origin: undefined };

/** Puts an item together from its deltas. */
export class ItemBuilder {
  readonly #item: Item;
  readonly #texts: Partial<Record<DeltaKind, string[]>> = {};
  readonly #logprobs: Json[][] = [];

  constructor(item: Item) {
    this.#item = item;
  }

  add({ kind, part, text, logprobs }: Text): void {
    const texts = this.#texts[kind];
    if (texts) texts[part] = (texts[part] ?? "") + text;
    else this.#texts[kind] = part === 0 ? [text] : Object.assign([], { [part]: text });
    if (!logprobs) return;
    this.#logprobs[part] ??= [];
    this.#logprobs[part].push(...logprobs);
  }

  text(kind: DeltaKind, part: number): string {
    return this.#texts[kind]?.[part] ?? "";
  }

  logprobs(part: number): readonly Json[] | undefined {
    return this.#logprobs[part];
  }

  /** The item with its texts. */
  build({ signature, redacted, origin }: Partial<ItemDoneEvent> = {}): Item {
    const item = this.#item;
    const { reasoning = [], summary = [], arguments: words = [] } = this.#texts;
    switch (item.type) {
      case "message":
        return { ...item, content: this.#parts(item.content) };
      case "reasoning":
        return {
          ...item,
          text: reasoning.flat(),
          summary: summary.flat(),
          signature,
          redacted,
          origin,
        };
      case "function_call":
        return { ...item, arguments: words.join("") };
      default:
        return item;
    }
  }

  /** The texts in their places, and the other parts in the places that are left. */
  #parts(others: readonly Part[]): Part[] {
    const { text = [], refusal = [] } = this.#texts;
    const parts: Part[] = [];
    text.forEach((each, i) => {
      parts[i] = { type: "text", text: each, logprobs: this.#logprobs[i] };
    });
    refusal.forEach((each, i) => {
      parts[i] = { type: "refusal", text: each };
    });
    const left = [...others];
    for (let i = 0; left.length > 0; i++) parts[i] ??= left.shift()!;
    return parts.flat();
  }
}

/** Puts an answer together from the events of its stream. */
export class Accumulator {
  #start: StartEvent = { type: "start", id: "", model: "" };
  readonly #choices: { items: Item[]; builders: ItemBuilder[]; stop?: Choice["stop"] }[] = [];
  #end: Partial<EndEvent> = {};
  #error: AnswerError | undefined;

  push(event: ItemEvent): void {
    if ("choice" in event) {
      this.#choices[event.choice] ??= { items: [], builders: [] };
      const choice = this.#choices[event.choice]!;
      if (event.type === "delta") choice.builders[event.index]?.add(event);
      else if (event.type === "item") choice.builders[event.index] = new ItemBuilder(event.item);
      else if (event.type === "stop") choice.stop = event.stop;
      else {
        const item = choice.builders[event.index]?.build(event);
        if (item) choice.items[event.index] = item;
      }
    } else if (event.type === "start") this.#start = event;
    else if (event.type === "end") this.#end = event;
    else this.#error = event.error;
  }

  answer(): Answer {
    const { id, model, created } = this.#start;
    const choices = this.#choices.map(({ items, stop = { reason: "end" } }) => ({ items, stop }));
    const { usage, completed } = this.#end;
    return { id, model, created, completed, choices, usage, error: this.#error };
  }
}

/** The answer that results if `change` changes the events of its stream. */
export function changedAnswer(answer: Answer, change: (emit: Emit) => Emit): Answer {
  const accumulator = new Accumulator();
  const emit = change((event) => accumulator.push(event));
  for (const event of eventsOf(answer)) emit(event);
  const { usage, extra } = answer;
  return { ...accumulator.answer(), usage, extra };
}
