import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import type { Answer, Choice, Usage } from "./items/answer.ts";
import type { Extra, MessageItem, Part, ReasoningItem } from "./items/item.ts";
import type { ItemRequest, ReasoningConfig, Tool } from "./items/request.ts";

/** Pieces of the effects in losses.fixture.ts. */

export const INPUT_SCHEMA = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

export function withGrammar(description: string | undefined, format: Json | undefined) {
  if (format?.type !== "grammar") return description;
  const grammar = `The input follows this ${format.syntax} grammar:\n${format.definition}`;
  return description === undefined ? grammar : `${description}\n\n${grammar}`.trimStart();
}

export function keep(extra: Extra | undefined, to: DialectName): Extra | undefined {
  if (!extra) return undefined;
  const kept = {
    ...(extra[to] && { [to]: extra[to] }),
    ...(to !== "messages" && extra.openai && { openai: extra.openai }),
  };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

export function keepTools(tools: readonly Tool[] | undefined, to: DialectName) {
  const kept = tools?.flatMap((tool): Tool[] => {
    if (tool.type === "hosted") return tool.dialect === to ? [tool] : [];
    return [{ ...tool, extra: keep(tool.extra, to) }];
  });
  return kept && kept.length > 0 ? kept : undefined;
}

export function system(content: Part[]): MessageItem {
  return { type: "message", role: "system", content };
}

export function textOf(item: ReasoningItem): string {
  return [...item.text, ...item.summary].join("\n\n");
}

export function withoutLogprobs(part: Part): Part {
  return part.type === "text" ? { ...part, logprobs: undefined } : part;
}

export function effortFor(budget: number): string {
  return budget >= 16_000 ? "high" : budget >= 4_000 ? "medium" : "low";
}

export function config(change: (config: ReasoningConfig) => ReasoningConfig) {
  return (request: ItemRequest): ItemRequest => {
    const reasoning = request.reasoning && change(request.reasoning);
    const isEmpty = !reasoning || Object.values(reasoning).every((value) => value === undefined);
    return { ...request, reasoning: isEmpty ? undefined : reasoning };
  };
}

export function stopped(change: (stop: Choice["stop"], items: Choice["items"]) => Choice["stop"]) {
  return (answer: Answer): Answer => ({
    ...answer,
    choices: answer.choices.map(({ items, stop }) => ({ items, stop: change(stop, items) })),
  });
}

export function counted(change: (usage: Usage) => Usage) {
  return (answer: Answer): Answer => ({ ...answer, usage: answer.usage && change(answer.usage) });
}
