import { createParser } from "eventsource-parser";
import { isRecord } from "../../wire/json-value.ts";

/** What an answer in one piece says, in its first choice. */
export function textOfWhole(body: Uint8Array): string {
  return textOf(JSON.parse(Buffer.from(body).toString()));
}

export function textOf(answer: unknown): string {
  return contentOf(answer, "message");
}

/** The text of a stream, put together from its pieces; by choice. */
export class StreamText {
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

function contentOf(answer: unknown, member: "message" | "delta"): string {
  if (!isRecord(answer) || !Array.isArray(answer.choices)) return "";
  const [choice] = answer.choices as unknown[];
  const said = isRecord(choice) ? choice[member] : undefined;
  return isRecord(said) && typeof said.content === "string" ? said.content : "";
}
