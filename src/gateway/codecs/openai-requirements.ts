import { CUSTOM_SCHEMA, customArguments, customDescription } from "./items/custom.ts";
import type { Item } from "./items/item.ts";
import type { FunctionTool } from "./items/request.ts";
import type { Requirement } from "./items/requirement.ts";
import { acceptedUser } from "./items/user.ts";

type Rule = Requirement["meet"];

/** Without tools, these members are refused. */
const noTools: Rule = (request) =>
  (request.tools ?? []).length > 0
    ? request
    : { ...request, toolChoice: undefined, parallelToolCalls: undefined };

const users: Rule = (request) => {
  const { user } = request;
  return user === undefined ? request : { ...request, user: acceptedUser(user, MOST_OF_USER) };
};

/** Longest id of a user. */
const MOST_OF_USER = 64;

/** Claude Code tests a model with a limit of one token. */
const leastAnswer: Rule = (request) => {
  const { maxTokens } = request;
  const isLow = maxTokens !== undefined && maxTokens >= 1 && maxTokens < LEAST_ANSWER;
  return isLow ? { ...request, maxTokens: LEAST_ANSWER } : request;
};

/** Least limit of an answer that the Responses API accepts. */
const LEAST_ANSWER = 16;

/**
 * Custom tools become functions: among the providers of chat completions only OpenAI knows custom tools, and it also
 * speaks Responses, where they need no translation.
 */
const customTools: Rule = (request) => {
  const { tools, toolChoice, items } = request;
  const hasCustom =
    tools?.some((tool) => tool.type === "function" && tool.custom) ||
    items.some((item) => "custom" in item && item.custom);
  if (!hasCustom) return request;
  return {
    ...request,
    items: items.map(plainItem),
    tools: tools?.map((tool) =>
      tool.type === "function" && tool.custom ? plainFunction(tool) : tool,
    ),
    toolChoice: toolChoice && { ...toolChoice, custom: undefined },
  };
};

function plainFunction(tool: FunctionTool): FunctionTool {
  const description = customDescription(tool);
  return { ...tool, description, parameters: CUSTOM_SCHEMA, custom: undefined };
}

function plainItem(item: Item): Item {
  if (item.type === "function_call_output") return { ...item, custom: undefined };
  if (item.type !== "function_call" || !item.custom) return item;
  const words = JSON.stringify(customArguments(item.arguments));
  return { ...item, custom: undefined, arguments: words };
}

/** Rules that providers of OpenAI's dialects enforce with an error. */
export const OPENAI_REQUIREMENTS: readonly Requirement[] = [
  {
    to: ["chat", "responses"],
    text: "`tool_choice` and `parallel_tool_calls` without tools are left out",
    meet: noTools,
  },
  {
    to: ["chat", "responses"],
    text: "an id of the end user that is longer than 64 characters becomes its hash",
    meet: users,
  },
  {
    to: ["chat"],
    text: "custom tools become functions as in Messages, because OpenAI is the only provider of this dialect that accepts custom tools",
    meet: customTools,
  },
  { to: ["responses"], text: "`max_output_tokens` is at least 16", meet: leastAnswer },
];
