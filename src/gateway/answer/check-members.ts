import type { Caller } from "../access/access.ts";
import { HttpError } from "../wire/http-error.ts";
import { isRecord, type Members } from "../wire/json.ts";

/**
 * Refuses members by which a client would evade the limits of its key at the provider. They are passed on for keys
 * without such limits. A member that names other models would evade a list of models, and one that
 * raises the price of a token would evade a budget, because most providers do not report what they charged.
 */
export function checkMembers({ models, budget }: Caller, members: Members): void {
  if (models !== undefined) {
    for (const param of MODEL_MEMBERS) {
      if ((members.value(param) ?? undefined) !== undefined)
        throw refused(param, "a list of models");
    }
    const tools = members.value("tools");
    const namesModel = (tool: unknown) => isRecord(tool) && typeof tool.model === "string";
    if (Array.isArray(tools) && tools.some(namesModel)) throw refused("tools", "a list of models");
  }
  if (budget !== undefined) {
    for (const [param, value] of DEARER) {
      if (members.value(param) === value) throw refused(param, "a budget");
    }
  }
}

/** Members by which OpenRouter and LiteLLM call another model, or LiteLLM another address. */
const MODEL_MEMBERS = [
  ...["models", "preset", "fallbacks", "context_window_fallbacks", "content_policy_fallbacks"],
  ...["api_base", "base_url"],
];

/** Values of members with which OpenAI and Anthropic charge a multiple of the list price. */
const DEARER = [
  ["service_tier", "priority"],
  ["speed", "fast"],
] as const;

function refused(param: string, limit: string): HttpError {
  return new HttpError(403, `an API key with ${limit} may not use \`${param}\` in this way`, {
    hint: `leave ${param} out, or ask the operator for a key without ${limit}`,
    code: "member_not_allowed",
    param,
  });
}
