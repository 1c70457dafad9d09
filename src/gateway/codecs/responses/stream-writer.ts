import type { Json } from "../../wire/json.ts";
import { ItemBuilder } from "../items/accumulate.ts";
import type { AnswerError, Stop } from "../items/answer.ts";
import { type StreamWriter, sse } from "../items/codec.ts";
import type {
  DeltaEvent,
  DeltaKind,
  ItemDoneEvent,
  ItemEvent,
  StartEvent,
} from "../items/event.ts";
import type { Item } from "../items/item.ts";
import type { ItemRequest } from "../items/request.ts";
import {
  incompleteDetails,
  itemId,
  statusOf,
  writeError,
  writeOutput,
  writeResponse,
  writeUsage,
} from "./answer.ts";
import { reasoningText } from "./items.ts";

/** The item that is being written. Its texts are repeated when it is done, so they are kept. */
interface Open {
  readonly item: Item;
  readonly id: string;
  /** Place in the output. */
  readonly place: number;
  readonly builder: ItemBuilder;
  /**
   * The part that is being written: its kind, its number in the events and its number in the
   * output.
   */
  kind: DeltaKind | undefined;
  part: number;
  number: number;
  /** Number of parts and of summaries so far. Parts without text are not written and not counted. */
  parts: number;
  summaries: number;
  /** Start of the event of a delta, up to its text. */
  head: string;
}

/** Names of the events of a part: its text grows, its text is complete. */
const EVENTS = {
  text: ["response.output_text.delta", "response.output_text.done"],
  refusal: ["response.refusal.delta", "response.refusal.done"],
  reasoning: ["response.reasoning_text.delta", "response.reasoning_text.done"],
  summary: ["response.reasoning_summary_text.delta", "response.reasoning_summary_text.done"],
  arguments: ["response.function_call_arguments.delta", "response.function_call_arguments.done"],
  custom: ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"],
} as const;

const NO_START: StartEvent = { type: "start", id: "", model: "" };

/** Writes the events of a streamed response. Only the first choice is written. */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #request: ItemRequest | undefined;
  #sequence: number;
  #start: StartEvent;
  readonly #open = new Map<number, Open>();
  /** Items that are done; the last event repeats them. */
  readonly #output: Json[] = [];
  #places = 0;
  #stop: Stop = { reason: "end" };

  /** To continue a stream, `first` is the number of the next event, and `start` began the response. */
  constructor(request?: ItemRequest, first = 0, start: StartEvent = NO_START) {
    this.#request = request;
    this.#sequence = first;
    this.#start = start;
  }

  write(event: ItemEvent): string {
    if ("choice" in event && event.choice > 0) return "";
    switch (event.type) {
      case "delta":
        return this.#delta(event);
      case "start": {
        this.#start = event;
        const response = writeResponse(event, this.#request, "in_progress", []);
        return (
          this.#event("response.created", { response }) +
          this.#event("response.in_progress", { response })
        );
      }
      case "item":
        return this.#added(event.index, event.item);
      case "done":
        return this.#done(event);
      case "stop":
        this.#stop = event.stop;
        return "";
      case "end": {
        const status = statusOf(this.#stop);
        const response = {
          ...writeResponse(
            { ...this.#start, completed: event.completed },
            this.#request,
            status,
            this.#output,
          ),
          incomplete_details: incompleteDetails(this.#stop),
          usage: event.usage ? writeUsage(event.usage) : null,
        };
        return this.#event(`response.${status}`, { response });
      }
      case "error":
        return this.#failed(event.error);
    }
  }

  /** Some clients read the event `error`, others the response that failed. The AI SDK drops an error without a code. */
  #failed(error: AnswerError): string {
    const { param = null, hint } = error;
    const written = writeError(error);
    const response = {
      ...writeResponse(this.#start, this.#request, "failed", this.#output),
      error: written,
    };
    return (
      this.#event("error", { ...written, param, hint }) +
      this.#event("response.failed", { response })
    );
  }

  #added(index: number, item: Item): string {
    const wire = writeOutput(item, this.#start.id, index, "in_progress");
    if (!wire) return ""; // a hosted item of another dialect
    const id = itemId(item, this.#start.id, index);
    const place = this.#places++;
    this.#open.set(index, {
      item,
      id,
      place,
      builder: new ItemBuilder(item),
      kind: undefined,
      part: 0,
      number: 0,
      parts: 0,
      summaries: 0,
      head: "",
    });
    return this.#event("response.output_item.added", { output_index: place, item: wire });
  }

  #delta(event: DeltaEvent): string {
    const open = this.#open.get(event.index);
    if (!open) return "";
    const { part, kind, logprobs } = event;
    const before = open.kind === kind && open.part === part ? "" : this.#nextPart(open, kind, part);
    open.builder.add(event);
    let tail = "}\n\n";
    if (kind === "text") tail = `,"logprobs":${logprobs ? JSON.stringify(logprobs) : "[]"}}\n\n`;
    return `${before}${open.head}${this.#sequence++},"delta":${JSON.stringify(event.text)}${tail}`;
  }

  /** Ends the part before and begins another one. */
  #nextPart(open: Open, kind: DeltaKind, part: number): string {
    const ended = this.#endPart(open);
    open.kind = kind;
    open.part = part;
    open.number = kind === "summary" ? open.summaries++ : open.parts++;
    const name = eventsOf(open)[0];
    const place = JSON.stringify(this.#placeOf(open)).slice(1, -1);
    open.head = `event: ${name}\ndata: {"type":"${name}",${place},"sequence_number":`;
    if (kind === "arguments") return ended;
    const empty = { ...this.#placeOf(open), part: partOf(kind, "", []) };
    return ended + this.#event(`${PART_EVENT[kind]}.added`, empty);
  }

  #endPart(open: Open): string {
    const { kind, part } = open;
    if (kind === undefined) return "";
    const text = open.builder.text(kind, part);
    const place = this.#placeOf(open);
    const logprobs = open.builder.logprobs(part) ?? [];
    open.kind = undefined;
    const done = eventsOf(open, kind)[1];
    if (kind === "arguments") {
      const member = open.item.type === "function_call" && open.item.custom ? "input" : "arguments";
      return this.#event(done, { ...place, [member]: text });
    }
    const members =
      kind === "refusal" ? { refusal: text } : kind === "text" ? { text, logprobs } : { text };
    const whole = partOf(kind, text, logprobs);
    return (
      this.#event(done, { ...place, ...members }) +
      this.#event(`${PART_EVENT[kind]}.done`, { ...place, part: whole })
    );
  }

  #placeOf({ id, place, kind, number }: Open): Json {
    const head = { item_id: id, output_index: place };
    if (kind === undefined || kind === "arguments") return head;
    const index = kind === "summary" ? "summary_index" : "content_index";
    return { ...head, [index]: number };
  }

  #done(event: ItemDoneEvent): string {
    const open = this.#open.get(event.index);
    if (!open) return "";
    const ended = this.#endPart(open);
    this.#open.delete(event.index);
    const item = writeOutput(open.builder.build(event), this.#start.id, event.index) ?? {};
    this.#output[open.place] = item;
    return ended + this.#event("response.output_item.done", { output_index: open.place, item });
  }

  #event(type: string, members: Json): string {
    const json = JSON.stringify({ type, sequence_number: this.#sequence++, ...members });
    return sse(type, json);
  }
}

const PART_EVENT = {
  text: "response.content_part",
  refusal: "response.content_part",
  reasoning: "response.content_part",
  summary: "response.reasoning_summary_part",
} as const;

function eventsOf(open: Open, kind = open.kind!): readonly [string, string] {
  const isCustom = open.item.type === "function_call" && open.item.custom;
  return EVENTS[kind === "arguments" && isCustom ? "custom" : kind];
}

function partOf(
  kind: Exclude<DeltaKind, "arguments">,
  text: string,
  logprobs: readonly Json[],
): Json {
  if (kind === "text") return { type: "output_text", text, annotations: [], logprobs };
  if (kind === "refusal") return { type: "refusal", refusal: text };
  return kind === "summary" ? { type: "summary_text", text } : reasoningText(text);
}
