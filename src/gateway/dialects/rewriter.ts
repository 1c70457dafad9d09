import { createParser } from "eventsource-parser";
import { CODECS } from "../codecs/codecs.ts";
import type { ItemEvent } from "../codecs/items/event.ts";
import type { DialectName } from "../wire/dialect-names.ts";

/** Reads the events of a stream and writes them in another form. */
export interface Rewriter {
  /** Reads a piece of a stream and returns what `write` makes of its events. */
  push(piece: Uint8Array): string;
  /** Returns what `write` makes of the events that end the answer, unless a piece has ended it. */
  end(): string;
}

export function rewriter(dialect: DialectName, write: (event: ItemEvent) => string): Rewriter {
  let out = "";
  const emit = (event: ItemEvent) => {
    out += write(event);
  };
  const decoder = new TextDecoder();
  const events = CODECS[dialect].streamParser();
  const parser = createParser({ onEvent: ({ data }) => events.push(data, emit) });
  return {
    push: (piece) => {
      out = "";
      parser.feed(decoder.decode(piece, { stream: true }));
      return out;
    },
    end: () => {
      out = "";
      events.end(emit);
      return out;
    },
  };
}
