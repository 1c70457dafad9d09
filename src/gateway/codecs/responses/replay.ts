import { isRecord, type Json } from "../../wire/json.ts";
import { sse } from "../items/codec.ts";

/**
 * The events of a stream that would give a complete response. Each text is one delta. `after` is the
 * number of the last event that the client already has.
 */
export function replayResponse(response: Json, after = -1): string {
  const running = {
    ...response,
    status: "in_progress",
    output: [],
    usage: null,
    incomplete_details: null,
  };
  const output = Array.isArray(response.output) ? response.output.filter(isRecord) : [];
  const events: readonly Json[] = [
    { type: "response.created", response: running },
    { type: "response.in_progress", response: running },
    ...output.flatMap(itemEvents),
    { type: `response.${response.status}`, response },
  ];
  return events
    .map((event, sequence_number): Json => ({ ...event, sequence_number }))
    .slice(after + 1)
    .map((event) => sse(String(event.type), JSON.stringify(event)))
    .join("");
}

/** Events of one item: it begins without its parts, which follow, and is repeated as a whole. */
function itemEvents(item: Json, output_index: number): Json[] {
  const at = { item_id: item.id, output_index };
  const empty = Object.fromEntries(
    Object.entries({ content: [], summary: [], arguments: "", input: "" }).filter(
      ([name]) => name in item,
    ),
  );
  const begun = { ...item, ...empty, ...("status" in item && { status: "in_progress" }) };
  return [
    { type: "response.output_item.added", output_index, item: begun },
    ...partsOf(item.summary).flatMap((part, summary_index) =>
      summaryEvents(part, at, summary_index),
    ),
    ...partsOf(item.content).flatMap((part, content_index) =>
      contentEvents(part, { ...at, content_index }),
    ),
    ...argumentEvents(item, at),
    { type: "response.output_item.done", output_index, item },
  ];
}

function partsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Names of the events of a part and the member that has its text. */
const TEXTS: Readonly<Record<string, readonly [string, string]>> = {
  output_text: ["response.output_text", "text"],
  refusal: ["response.refusal", "refusal"],
  reasoning_text: ["response.reasoning_text", "text"],
};

function contentEvents(part: Json, at: Json): Json[] {
  const [name, member] = TEXTS[String(part.type)] ?? [];
  if (name === undefined || member === undefined) return [];
  const logprobs = part.type === "output_text" ? { logprobs: part.logprobs ?? [] } : {};
  return [
    { type: "response.content_part.added", ...at, part: { ...part, [member]: "" } },
    { type: `${name}.delta`, ...at, delta: part[member], ...logprobs },
    { type: `${name}.done`, ...at, [member]: part[member], ...logprobs },
    { type: "response.content_part.done", ...at, part },
  ];
}

function summaryEvents(part: Json, item: Json, summary_index: number): Json[] {
  const at = { ...item, summary_index };
  const name = "response.reasoning_summary";
  return [
    { type: `${name}_part.added`, ...at, part: { ...part, text: "" } },
    { type: `${name}_text.delta`, ...at, delta: part.text },
    { type: `${name}_text.done`, ...at, text: part.text },
    { type: `${name}_part.done`, ...at, part },
  ];
}

function argumentEvents(item: Json, at: Json): Json[] {
  if (item.type === "function_call") {
    const name = "response.function_call_arguments";
    const done = { name: item.name, arguments: item.arguments };
    return [
      { type: `${name}.delta`, ...at, delta: item.arguments },
      { type: `${name}.done`, ...at, ...done },
    ];
  }
  if (item.type !== "custom_tool_call") return [];
  const name = "response.custom_tool_call_input";
  return [
    { type: `${name}.delta`, ...at, delta: item.input },
    { type: `${name}.done`, ...at, input: item.input },
  ];
}
