import type { StreamWriter } from "../items/codec.ts";
import type { DeltaEvent, ItemEvent, StartEvent } from "../items/event.ts";
import type { Item } from "../items/item.ts";
import type { ItemRequest } from "../items/request.ts";
import { finishReason, writeUsage } from "./usage.ts";

/** State of one choice. */
interface Written {
  /** Number of each call among the calls, by the index of its item. */
  readonly calls: Map<number, { readonly number: number; readonly custom: boolean }>;
  /** Item and part of the last text of each member, to separate paragraphs. */
  readonly last: Map<string, string>;
}

/** Writes the chunks of a chat completion. */
export class ChatStreamWriter implements StreamWriter {
  readonly #includeUsage: boolean;
  readonly #legacy: boolean;
  /** Start of every chunk, up to the index of the choice. */
  #head = "";
  readonly #choices: Written[] = [];

  constructor(request?: ItemRequest) {
    this.#includeUsage = !request || request.includeUsage === true;
    this.#legacy = request?.legacyFunctions === true;
  }

  write(event: ItemEvent): string {
    switch (event.type) {
      case "delta":
        return this.#delta(event);
      case "start":
        return this.#start(event);
      case "item":
        return this.#open(event.choice) + this.#item(event.choice, event.index, event.item);
      case "stop": {
        const reason = finishReason(event.stop, this.#legacy);
        return this.#open(event.choice) + this.#chunk(event.choice, "{}", `"${reason}"`);
      }
      case "end": {
        if (!event.usage || !this.#includeUsage) return DONE;
        const usage = JSON.stringify(writeUsage(event.usage));
        return `${this.#head}[],"usage":${usage}}\n\n${DONE}`;
      }
      case "error": {
        const error = { param: null, code: null, ...event.error };
        return `data: ${JSON.stringify({ error })}\n\n`;
      }
      case "done":
        return "";
    }
  }

  #start({ id, model, created = 0 }: StartEvent): string {
    const head = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
    this.#head = `data: ${head.slice(0, -1)},"choices":`;
    return this.#open(0);
  }

  /** The first chunk of a choice, which names the role. */
  #open(choice: number): string {
    if (this.#choices[choice]) return "";
    this.#choices[choice] = { calls: new Map(), last: new Map() };
    return this.#chunk(choice, '{"role":"assistant","content":""}');
  }

  #item(choice: number, index: number, item: Item): string {
    if (item.type !== "function_call") return "";
    const { calls } = this.#choices[choice]!;
    const custom = item.custom === true;
    const number = calls.size;
    calls.set(index, { number, custom });
    const name = JSON.stringify(item.name);
    if (this.#legacy) {
      return number > 0
        ? ""
        : this.#chunk(choice, `{"function_call":{"name":${name},"arguments":""}}`);
    }
    const called = custom
      ? `"type":"custom","custom":{"name":${name},"input":""}`
      : `"type":"function","function":{"name":${name},"arguments":""}`;
    const id = JSON.stringify(item.callId);
    return this.#chunk(choice, `{"tool_calls":[{"index":${number},"id":${id},${called}}]}`);
  }

  #delta({ choice, index, part, kind, text, logprobs }: DeltaEvent): string {
    const written = this.#choices[choice]!;
    if (kind === "arguments") {
      const call = written.calls.get(index)!;
      if (this.#legacy) {
        const words = JSON.stringify(text);
        return call.number > 0
          ? ""
          : this.#chunk(choice, `{"function_call":{"arguments":${words}}}`);
      }
      const called = call.custom ? '"custom":{"input":' : '"function":{"arguments":';
      const more = `{"index":${call.number},${called}${JSON.stringify(text)}}}`;
      return this.#chunk(choice, `{"tool_calls":[${more}]}`);
    }
    const member = MEMBERS[kind];
    // Items are paragraphs, and so are the parts of reasoning.
    const place = member === "reasoning_content" ? `${index} ${part} ${kind}` : `${index}`;
    const last = written.last.get(member);
    written.last.set(member, place);
    const gap = last === undefined || last === place ? "" : "\\n\\n";
    const value = gap === "" ? JSON.stringify(text) : `"${gap}${JSON.stringify(text).slice(1)}`;
    const list = logprobs?.length
      ? JSON.stringify({ content: logprobs, refusal: null })
      : undefined;
    return this.#chunk(choice, `{"${member}":${value}}`, "null", list);
  }

  #chunk(choice: number, delta: string, finish = "null", logprobs = "null"): string {
    return `${this.#head}[{"index":${choice},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}}]}\n\n`;
  }
}

const MEMBERS = {
  text: "content",
  refusal: "refusal",
  summary: "reasoning_content",
  reasoning: "reasoning_content",
} as const;

const DONE = "data: [DONE]\n\n";
