import { createParser } from "eventsource-parser";
import { CODECS } from "../../codecs/codecs.ts";
import type { Item, Part } from "../../codecs/items/item.ts";
import type { Dialect, StreamText } from "../dialect.ts";

/** The same dialect, but the text of an answer includes its calls of tools: it is the step that an agent would take. */
export function withCalls(dialect: Dialect): Dialect {
  const codec = CODECS[dialect.name];
  return {
    ...dialect,
    textOf: (answer) => {
      const { choices } = codec.parseAnswer(JSON.parse(Buffer.from(answer).toString()));
      const lines = (choices[0]?.items ?? []).map((item) => lineOf(item));
      return lines.filter((line) => line !== "").join("\n");
    },
    streamText: () => new StepText(dialect),
  };
}

/** Puts the text and the calls of a stream together. */
class StepText implements StreamText {
  #text = "";
  readonly #decoder = new TextDecoder();
  readonly #parser;

  constructor({ name }: Dialect) {
    const events = CODECS[name].streamParser();
    this.#parser = createParser({
      onEvent: ({ data }) => {
        if (!data.startsWith("{")) return;
        events.push(data, (event) => {
          if (event.type === "item") {
            if (this.#text !== "") this.#text += "\n";
            if (event.item.type === "function_call") this.#text += `calls ${event.item.name} `;
          } else if (event.type === "delta" && SHOWN.has(event.kind)) this.#text += event.text;
        });
      },
    });
  }

  push(piece: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
  }

  text(): string {
    return this.#text.trim();
  }
}

/** Kinds of deltas that are part of a step; reasoning is not. */
const SHOWN = new Set<string>(["text", "arguments"]);

/** The end of the conversation in a request's body, one line per message, call and result, for a judge. */
export function transcriptOf({ name }: Dialect, body: Uint8Array): string {
  const request = CODECS[name].parseRequest(JSON.parse(Buffer.from(body).toString()));
  const lines: string[] = [];
  let room = MOST_CHARACTERS;
  for (const item of request.items.toReversed()) {
    const line = lineOf(item, true).slice(0, MOST_IN_LINE);
    if (line === "") continue;
    if (line.length > room) break;
    room -= line.length;
    lines.unshift(line);
  }
  const tools = (request.tools ?? []).flatMap((tool) =>
    tool.type === "function" ? tool.name : [],
  );
  return [...lines, `tools: ${tools.join(", ")}`.slice(0, MOST_IN_LINE)].join("\n");
}

const MOST_CHARACTERS = 16_000;
const MOST_IN_LINE = 3000;

function lineOf(item: Item, withRole = false): string {
  switch (item.type) {
    case "message":
      return `${withRole ? `${item.role}: ` : ""}${textOf(item.content)}`;
    case "function_call":
      return `calls ${item.name} ${item.arguments}`;
    case "function_call_output":
      return `result: ${textOf(item.output)}`;
    case "reasoning":
    case "hosted":
      return "";
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
