import { createParser } from "eventsource-parser";
import { CODECS } from "../codecs/codecs.ts";
import type { ItemEvent } from "../codecs/items/event.ts";
import type { DialectName } from "../wire/dialect-names.ts";

/** Returns a function that reads pieces of a stream and returns what `write` makes of their events. */
export function rewriter(
  dialect: DialectName,
  write: (event: ItemEvent) => string,
): (piece: Uint8Array) => string {
  let out = "";
  const decoder = new TextDecoder();
  const events = CODECS[dialect].streamParser();
  const parser = createParser({
    onEvent: ({ data }) =>
      events.push(data, (event) => {
        out += write(event);
      }),
  });
  return (piece) => {
    out = "";
    parser.feed(decoder.decode(piece, { stream: true }));
    return out;
  };
}
