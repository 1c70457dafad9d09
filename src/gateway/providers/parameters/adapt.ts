import type { DialectName } from "../../wire/dialect-names.ts";
import { infiniteField } from "../../wire/infinite.ts";
import { isRecord, type Members } from "../../wire/json.ts";
import { type Adapted, EditedRequest } from "./edited-request.ts";
import { adaptMessages, schemaInstructions, withInstructions } from "./messages.ts";
import { plainTools } from "./plain-schema.ts";
import { adaptReasoning } from "./reasoning.ts";
import { ANSWER_LIMITS, type ParameterRules } from "./rules.ts";

/** Changes a request in the upstream's dialect so that a model with these rules accepts it. */
export function adapt(rules: ParameterRules, dialect: DialectName, members: Members): Adapted {
  const request = new EditedRequest(members);
  for (const [from, to] of Object.entries(rules.rename ?? {})) request.rename(from, to);
  for (const path of rules.drop ?? []) request.drop(path);
  for (const [name, accepted] of Object.entries(rules.only ?? {})) {
    if (request.value(name) !== accepted) request.drop(name);
  }
  for (const [kept, other] of rules.either ?? []) {
    if (request.value(kept) !== undefined) request.drop(other);
  }
  for (const [name, max] of Object.entries(rules.max ?? {})) request.limit(name, max);
  if (rules.maxAnswer !== undefined) {
    for (const name of ANSWER_LIMITS) request.limit(name, rules.maxAnswer);
  }
  dropInner(request, rules);
  if (dialect === "chat") adaptChat(rules, request);
  adaptReasoning(rules.reasoning, dialect, request);
  return request;
}

/** Leaves members of tools and of cache marks out. */
function dropInner(request: EditedRequest, { dropFromTools, dropFromCache }: ParameterRules): void {
  for (const name of dropFromTools ?? []) {
    if (!request.mentions("tools", name)) continue;
    const tools = request.value("tools");
    if (!Array.isArray(tools)) continue;
    const without = (tool: unknown) => {
      if (!isRecord(tool)) return tool;
      const { [name]: _, ...rest } = tool;
      if (!isRecord(rest.function)) return rest;
      const { [name]: __, ...called } = rest.function;
      return { ...rest, function: called };
    };
    request.set("tools", tools.map(without), [{ param: `tools.${name}`, change: "dropped" }]);
  }
  for (const name of dropFromCache ?? []) {
    for (const member of ["system", "tools", "messages"]) {
      if (!request.mentions(member, `"${name}"`)) continue;
      const changed = withoutInCache(request.value(member), name);
      request.set(member, changed, [{ param: `cache_control.${name}`, change: "dropped" }]);
    }
  }
}

function withoutInCache(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutInCache(each, name));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => {
    if (key !== "cache_control" || !isRecord(each)) return [key, withoutInCache(each, name)];
    const { [name]: _, ...rest } = each;
    return [key, rest];
  });
  return Object.fromEntries(entries);
}

function adaptChat(rules: ParameterRules, request: EditedRequest): void {
  if (rules.plainSchemas) {
    const tools = request.value("tools");
    const changed = Array.isArray(tools) ? plainTools(tools) : [];
    if (changed.length > 0 && JSON.stringify(changed) !== JSON.stringify(tools)) {
      request.set("tools", changed, [{ param: "tools.function.parameters", change: "limited" }]);
    }
  }
  const mayApply =
    (rules.noDeveloper && request.mentions("messages", "developer")) ||
    (rules.signsCalls && request.mentions("messages", "tool_calls")) ||
    rules.dropFromMessages?.some((name) => request.mentions("messages", name));
  if (mayApply) {
    const messages = request.value("messages");
    const changed = adaptMessages(Array.isArray(messages) ? messages : [], rules);
    if (changed.adapted.length > 0) {
      request.set("messages", changed.messages, changed.adapted);
    }
  }
  if (!rules.noSchemaWithTools) return;
  const format = request.value("response_format");
  const tools = request.value("tools");
  const messages = request.value("messages");
  if (!isRecord(format) || !/^json/.test(String(format.type))) return;
  if (!Array.isArray(tools) || tools.length === 0 || !Array.isArray(messages)) return;
  if (infiniteField([format, messages]) !== undefined) return;
  request.move(
    "response_format",
    "messages",
    withInstructions(messages, schemaInstructions(format)),
  );
}
