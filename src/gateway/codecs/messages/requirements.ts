import { isSystem } from "../items/group.ts";
import {
  type FunctionCallItem,
  type Item,
  isOfModel,
  type MessageItem,
  type Part,
} from "../items/item.ts";
import type { ReasoningConfig } from "../items/request.ts";
import type { Requirement } from "../items/requirement.ts";
import { acceptedUser } from "../items/user.ts";

type Rule = Requirement["meet"];

/** The model cannot think if a tool is forced, or if it has called a tool without thinking before. */
const thinking: Rule = (request) => {
  const { reasoning, toolChoice, items } = request;
  if (!reasoning?.enabled) return request;
  if (toolChoice?.mode !== "required" && !isToolLoopWithoutReasoning(items)) return request;
  return { ...request, reasoning: { enabled: false } };
};

/** Whether the last message of the assistant calls tools and does not begin with reasoning. */
function isToolLoopWithoutReasoning(items: readonly Item[]): boolean {
  const isPrompt = (item: Item) => item.type === "message" && item.role === "user";
  const loop = items.slice(items.findLastIndex(isPrompt) + 1);
  const first = loop.find((item) => item.type !== "message" || item.role === "assistant");
  const hasCalls = loop.some((item) => item.type === "function_call");
  return hasCalls && first?.type !== "reasoning";
}

/** A budget is at least 1,024 tokens and below the limit of the answer. */
const budget: Rule = (request) => {
  const { reasoning, maxTokens } = request;
  if (reasoning?.budget === undefined) return request;
  const tokens = Math.max(1024, reasoning.budget);
  const changed: ReasoningConfig = { ...reasoning, budget: tokens };
  if (maxTokens === undefined || maxTokens > tokens) return { ...request, reasoning: changed };
  return { ...request, reasoning: changed, maxTokens: maxTokens + tokens };
};

/**
 * Temperatures end at 1. Newer models accept either a temperature or top_p: the temperature is
 * kept unless it is 1, which has no effect. A model that thinks accepts neither of them, nor top_k.
 */
const sampling: Rule = (request) => {
  const { temperature, topP, reasoning } = request;
  if (reasoning?.enabled) {
    return { ...request, temperature: undefined, topP: undefined, topK: undefined };
  }
  const usesTopP = topP !== undefined && (temperature === undefined || temperature === 1);
  return {
    ...request,
    temperature: usesTopP || temperature === undefined ? undefined : Math.min(1, temperature),
    topP: usesTopP ? topP : undefined,
  };
};

/** Stop sequences contain more than white space. */
const stops: Rule = (request) => {
  const stop = request.stop?.filter((text) => text.trim() !== "");
  return { ...request, stop: stop && stop.length > 0 ? stop : undefined };
};

/** A conversation with calls declares tools. */
const tools: Rule = (request) => {
  if (request.tools && request.tools.length > 0) return request;
  const calls = request.items.filter(
    (item): item is FunctionCallItem => item.type === "function_call",
  );
  const names = [...new Set(calls.map(({ name }) => name))];
  if (names.length === 0)
    return { ...request, toolChoice: undefined, parallelToolCalls: undefined };
  return {
    ...request,
    tools: names.map((name) => ({ type: "function", name })),
    toolChoice: { mode: "none" },
  };
};

/** Anthropic refuses email addresses as ids of users. */
const users: Rule = (request) => {
  const { user } = request;
  return user === undefined ? request : { ...request, user: acceptedUser(user, 256, /^[\w-]*$/) };
};

/** Arguments of a tool are an object, and the schema says so. */
const schemas: Rule = (request) => ({
  ...request,
  tools: request.tools?.map((tool) =>
    tool.type === "function" && tool.parameters && tool.parameters.type === undefined
      ? { ...tool, parameters: { type: "object", ...tool.parameters } }
      : tool,
  ),
});

/**
 * Texts contain more than white space, the user begins, and a last message of the assistant does not end in
 * white space.
 */
const messages: Rule = (request) => {
  const items = request.items
    .map((item) => (item.type === "message" ? withoutBlanks(item) : item))
    .filter((item) => item.type !== "message" || item.content.length > 0);
  const first = items.find((item) => !isSystem(item));
  if (first ? isOfModel(first) : items.length > 0) {
    const begin: Item = { type: "message", role: "user", content: [{ type: "text", text: "." }] };
    items.splice(first ? items.indexOf(first) : items.length, 0, begin);
  }
  const last = items.at(-1);
  const end =
    last?.type === "message" && last.role === "assistant" ? last.content.at(-1) : undefined;
  if (last?.type === "message" && end?.type === "text") {
    const content = last.content.with(-1, { ...end, text: end.text.trimEnd() });
    items[items.length - 1] = { ...last, content };
  }
  return { ...request, items };
};

function withoutBlanks(message: MessageItem): MessageItem {
  const isBlank = (part: Part) =>
    (part.type === "text" || part.type === "refusal") && part.text.trim() === "";
  return message.content.some(isBlank)
    ? { ...message, content: message.content.filter((part) => !isBlank(part)) }
    : message;
}

/**
 * No two calls have the same id. In the older form of functions, ids are made of the function's name, so a
 * repeated one gets a number, also in the output that follows.
 */
const callIds: Rule = (request) => {
  const seen = new Map<string, number>();
  const numbered = (id: string, times: number) => (times > 1 ? `${id}_${times}` : id);
  const items = request.items.map((item) => {
    if (item.type === "function_call") {
      const times = (seen.get(item.callId) ?? 0) + 1;
      seen.set(item.callId, times);
      return { ...item, callId: numbered(item.callId, times) };
    }
    if (item.type !== "function_call_output") return item;
    return { ...item, callId: numbered(item.callId, seen.get(item.callId) ?? 1) };
  });
  return { ...request, items };
};

/** JSON without a schema is an instruction. */
const jsonObject: Rule = (request) => {
  if (request.output?.type !== "json_object") return request;
  const text = "Give the final answer as one JSON object and nothing else.";
  const instruction: Item = { type: "message", role: "system", content: [{ type: "text", text }] };
  return { ...request, output: undefined, items: [...request.items, instruction] };
};

/**
 * Rules that Anthropic's own API enforces with an error, in the order in which they are met. Foreign reasoning has to
 * be removed before.
 */
export const MESSAGES_REQUIREMENTS: readonly Requirement[] = [
  {
    text: "texts that are only white space are left out; a user message `.` is put before a conversation that does not begin with a user message; if the last message is the assistant's, white space at its end is removed",
    meet: messages,
  },
  {
    text: "an id that several calls share gets a number; characters other than letters, digits, `_` and `-` in ids of calls are replaced",
    meet: callIds,
  },
  {
    text: "thinking is off if a tool is forced, or in a tool loop that began without thinking",
    meet: thinking,
  },
  {
    text: "a thinking budget is at least 1,024 tokens; if `max_tokens` is not larger than the budget, the budget is added to it",
    meet: budget,
  },
  {
    text: "`temperature` is at most 1; `top_p` is left out if there is a temperature other than 1; both and `top_k` are left out if the model thinks",
    meet: sampling,
  },
  { text: "stop sequences that are only white space are left out", meet: stops },
  {
    text: "if a request has no tools, but earlier messages call some, these are declared and may not be called; `tool_choice` without tools is left out",
    meet: tools,
  },
  { text: "an argument schema without a type gets the type `object`", meet: schemas },
  {
    text: "the format `json_object` becomes an instruction of the system message",
    meet: jsonObject,
  },
  {
    text: "an id of the end user that is longer than 256 characters, or has characters other than letters, digits, `_` and `-`, becomes its hash",
    meet: users,
  },
].map((requirement) => ({ ...requirement, to: ["messages"] }));
