import {
  type FunctionCallOutputItem,
  type Item,
  isOfModel,
  type MessageItem,
  type Part,
} from "../../codecs/items/item.ts";
import { areHostedToolsOptional, type ItemRequest } from "../../codecs/items/request.ts";
import type { Needs } from "../../providers/capabilities.ts";
import { tokensOfBytes } from "../../providers/upstream/text-tokens.ts";
import type { Members } from "../../wire/json.ts";
import { answerLimits } from "../answer-limits.ts";
import { historyOf } from "../chat/history.ts";
import { promptOf } from "../chat/prompt.ts";
import type { Conversation, RequestHeaders } from "../dialect.ts";
import { readOptions } from "../options.ts";
import { looksLikeError } from "../tool-error.ts";

/** The conversation of a request in the internal form. */
export function conversationOf(
  request: ItemRequest,
  members: Members,
  headers: RequestHeaders,
): Conversation {
  const { items, instructions } = request;
  const options = readOptions(members, headers);
  // Clients may drop reasoning, and its signatures differ from those that they got.
  const messages = items.filter(({ type }) => type !== "reasoning").map(messageOf);
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const lastPrompt = items.findLastIndex(isOfModel) + 1;
  const needs = needsOf(request, members);
  // Clients may add texts to the results of tools.
  const results = items
    .slice(lastPrompt)
    .filter((item): item is FunctionCallOutputItem => item.type === "function_call_output");
  const inToolLoop = results.length > 0;
  return {
    prompt: promptOf(messages),
    history: historyOf([...system, ...messages], needs.tools || inToolLoop),
    needs: { ...needs, native: nativeNeed(request, options.strict === true) },
    n: 1,
    wantsUsage: true,
    inToolLoop,
    hasToolError: results.some(isToolError),
    isRunning: items.some(isOfModel),
    providerSpecific: request.logprobs === undefined ? undefined : "logprobs",
    options,
  };
}

function isToolError({ isError, output }: FunctionCallOutputItem): boolean {
  return isError ?? output.some((part) => part.type === "text" && looksLikeError(part.text));
}

/** The item as a message with a role and texts, for everything that compares conversations. */
function messageOf(item: Item): unknown {
  switch (item.type) {
    case "message":
      return { role: item.role, content: item.content.map(contentOf) };
    case "function_call":
      return { role: "assistant", call: item.callId, name: item.name, arguments: item.arguments };
    case "function_call_output":
      return { role: "tool", call: item.callId, content: item.output.map(contentOf) };
    case "reasoning":
      return { role: "assistant" };
    case "hosted":
      return { role: "assistant", item: item.value };
  }
}

/** A part without members that change from request to request, such as cache marks. */
function contentOf(part: Part): unknown {
  if (part.type === "text") return { type: "text", text: part.text };
  if ("source" in part) return { type: part.type, source: sourceOf(part.source) };
  return part;
}

/** Data are written as a data URL, which does not count as text. */
function sourceOf(source: Extract<Part, { type: "image" }>["source"]): unknown {
  return source.type === "base64" ? `data:${source.mediaType};base64,${source.data}` : source;
}

function needsOf(request: ItemRequest, members: Members): Needs {
  const { items, tools = [], output } = request;
  const parts = items.flatMap((item): readonly Part[] => {
    if (item.type === "message") return (item satisfies MessageItem).content;
    return item.type === "function_call_output" ? item.output : [];
  });
  const attached = parts.reduce((bytes, part) => bytes + attachedBytes(part), 0);
  return {
    vision: parts.some(({ type }) => type === "image"),
    tools: tools.length > 0,
    jsonSchema: output?.type === "json_schema",
    promptTokens: tokensOfBytes(Math.max(0, members.close - members.open - attached)),
    answerTokens: answerLimits(members).answerTokens,
  };
}

/**
 * The tool that runs at the upstream, or the state that it keeps, and the dialect that the upstream must
 * speak for it.
 */
function nativeNeed(request: ItemRequest, isStrict: boolean): Needs["native"] {
  const { tools = [], extra } = request;
  const hosted = tools.find((tool) => tool.type === "hosted");
  if (hosted && (isStrict || !areHostedToolsOptional(request))) {
    return { dialect: hosted.dialect, param: "tools", what: `the tool ${hosted.value.type}` };
  }
  const { background, conversation, prompt } = extra?.responses ?? {};
  const states = { background: background === true, conversation, prompt };
  const [state] = Object.entries(states).find(([, value]) => value) ?? [];
  return state === undefined ? undefined : { dialect: "responses", param: state, what: state };
}

/** Bytes of an attached image, sound or file, which are not text. */
function attachedBytes(part: Part): number {
  if (part.type === "audio") return part.data.length;
  if (part.type !== "image" && part.type !== "document") return 0;
  return part.source.type === "base64" ? part.source.data.length : 0;
}
