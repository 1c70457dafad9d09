import { CODECS } from "../../codecs/codecs.ts";
import type { ItemEvent } from "../../codecs/items/event.ts";
import type { Item, Part } from "../../codecs/items/item.ts";
import { streamText } from "../answer-text.ts";
import type { Dialect } from "../dialect.ts";

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
    streamText: () => {
      const { push, text } = streamText(dialect.name, stepIn);
      return { push, text: () => text().trim() };
    },
  };
}

/** Text and calls in an event of a stream, each item on a line of its own. */
function stepIn(event: ItemEvent, before: string): string {
  if (event.type === "delta") return SHOWN.has(event.kind) ? event.text : "";
  if (event.type !== "item") return "";
  const call = event.item.type === "function_call" ? `calls ${event.item.name} ` : "";
  return before === "" ? call : `\n${call}`;
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
