import { createParser } from "eventsource-parser";
import { isRecord } from "../../wire/json-value.ts";
import type { StreamText } from "../dialect.ts";

/** Text of the first choice of a completion. */
export function textOf(completion: unknown): string {
  return contentOf(completion, "message");
}

/** Puts the texts of a stream together, separately for each choice. */
export class ChatText implements StreamText {
  readonly #texts: string[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      if (!data.startsWith("{")) return;
      const event: unknown = JSON.parse(data);
      const choices = isRecord(event) && Array.isArray(event.choices) ? event.choices : [];
      for (const choice of choices) {
        const index = isRecord(choice) && typeof choice.index === "number" ? choice.index : 0;
        const text = contentOf({ choices: [choice] }, "delta");
        this.#texts[index] = (this.#texts[index] ?? "") + text;
      }
    },
  });

  push(piece: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
  }

  text(index = 0): string {
    return this.#texts[index] ?? "";
  }
}

function contentOf(completion: unknown, member: "message" | "delta"): string {
  if (!isRecord(completion) || !Array.isArray(completion.choices)) return "";
  const [choice] = completion.choices as unknown[];
  const message = isRecord(choice) ? choice[member] : undefined;
  return isRecord(message) && typeof message.content === "string" ? message.content : "";
}
