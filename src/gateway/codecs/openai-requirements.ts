import type { DialectName } from "../wire/dialect-names.ts";
import { CUSTOM_SCHEMA, customArguments, customDescription } from "./items/custom.ts";
import type { Item } from "./items/item.ts";
import type { FunctionTool, ItemRequest } from "./items/request.ts";
import { acceptedUser } from "./items/user.ts";

/** Changes a request of another dialect so that hosts of OpenAI's dialects accept it. */
export function meetOpenAiRequirements(
  request: ItemRequest,
  dialect: Exclude<DialectName, "messages">,
): ItemRequest {
  const { tools = [], user, maxTokens } = request;
  const own = {
    ...request,
    user: user === undefined ? undefined : acceptedUser(user, MOST_OF_USER),
    // Without tools, these members are refused.
    ...(tools.length === 0 && { toolChoice: undefined, parallelToolCalls: undefined }),
  };
  if (dialect === "chat") return withoutCustomTools(own);
  // Claude Code tests a model with a limit of one token.
  const isLow = maxTokens !== undefined && maxTokens >= 1 && maxTokens < LEAST_ANSWER;
  return isLow ? { ...own, maxTokens: LEAST_ANSWER } : own;
}

/** Least limit of an answer that the Responses API accepts. */
const LEAST_ANSWER = 16;

/** Longest name of a user. */
const MOST_OF_USER = 64;

/**
 * Custom tools become functions: of the hosts that speak chat completions only OpenAI knows custom tools, and it also
 * speaks Responses, where they need no translation.
 */
function withoutCustomTools(request: ItemRequest): ItemRequest {
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
}

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
