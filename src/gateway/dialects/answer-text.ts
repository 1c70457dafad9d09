import { CODECS } from "../codecs/codecs.ts";
import type { Answer } from "../codecs/items/answer.ts";
import type { ItemEvent } from "../codecs/items/event.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import type { StreamText } from "./dialect.ts";
import { rewriter } from "./rewriter.ts";

/** Text of the first choice of an answer, without reasoning and calls. */
export function textIn({ choices }: Answer): string {
  const items = choices[0]?.items ?? [];
  return items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
}

/** Text of a complete answer in a dialect. */
export function answerText(dialect: DialectName, answer: Uint8Array): string {
  return textIn(CODECS[dialect].parseAnswer(JSON.parse(Buffer.from(answer).toString())));
}

/** Collects the text of the first choice of a stream. `textOf` returns the text that an event adds. */
export function streamText(
  dialect: DialectName,
  textOf: (event: ItemEvent, before: string) => string = wordsIn,
): StreamText {
  let text = "";
  // An upstream may give its only choice another number than 0.
  let own: number | undefined;
  const read = rewriter(dialect, (event) => {
    if (!("choice" in event)) return "";
    own ??= event.choice;
    if (event.choice === own) text += textOf(event, text);
    return "";
  });
  return { push: (piece) => void read.push(piece), text: () => text };
}

function wordsIn(event: ItemEvent): string {
  return event.type === "delta" && event.kind === "text" ? event.text : "";
}
