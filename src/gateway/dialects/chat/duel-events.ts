import { createParser, type EventSourceParser } from "eventsource-parser";
import { isRecord, type Json } from "../../wire/json-value.ts";

/** What both answers of a duel have in common; nothing in it tells who gave them. */
export interface DuelHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The router's name. */
  readonly model: string;
}

/** What an answer in one piece says. */
export function choiceOf(answer: unknown): Json | undefined {
  return choicesOf(answer)[0];
}

export function wholeDuel(
  head: DuelHead,
  choices: readonly Json[],
  usage: Json,
  joust: Json,
): string {
  return JSON.stringify({ ...common(head, "chat.completion"), choices, usage, joust });
}

/**
 * The events of one answer, rewritten: the place of the choice, the duel's own
 * id and name, and nothing else of what the upstream says of itself.
 */
export class DuelEvents {
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder();
  #out: string[] = [];

  constructor(head: DuelHead, index: number) {
    this.#parser = createParser({
      onEvent: ({ data }) => {
        if (data === "[DONE]" || data === "") return;
        for (const choice of choicesOf(JSON.parse(data))) {
          this.#out.push(chunk(head, [{ ...choice, index }]));
        }
      },
    });
  }

  /** Whole events in, whole events out. */
  rewrite(piece: Uint8Array): string {
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
    const out = this.#out.join("");
    this.#out = [];
    return out;
  }
}

export function chunk(head: DuelHead, choices: readonly Json[], more: Json = {}): string {
  const body = { ...common(head, "chat.completion.chunk"), choices, ...more };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function common({ id, created, model }: DuelHead, object: string): Json {
  return { id, object, created, model };
}

function choicesOf(answer: unknown): Json[] {
  const choices = isRecord(answer) ? answer.choices : undefined;
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}
