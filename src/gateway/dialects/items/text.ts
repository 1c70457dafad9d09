import { createParser } from "eventsource-parser";
import { CODECS } from "../../codecs/codecs.ts";
import type { Answer } from "../../codecs/items/answer.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import type { StreamText } from "../dialect.ts";

/** Text of an answer, without reasoning and calls. */
export function textIn({ choices }: Answer): string {
  const items = choices[0]?.items ?? [];
  return items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
}

/** Puts the text of a stream together. */
export class ItemText implements StreamText {
  #text = "";
  readonly #decoder = new TextDecoder();
  readonly #parser;

  constructor(dialect: DialectName) {
    const events = CODECS[dialect].streamParser();
    this.#parser = createParser({
      onEvent: ({ data }) =>
        events.push(data, (event) => {
          if (event.type === "delta" && event.kind === "text") this.#text += event.text;
        }),
    });
  }

  push(piece: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
  }

  text(): string {
    return this.#text;
  }
}
