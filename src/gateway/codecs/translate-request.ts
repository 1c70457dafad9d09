import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { checkChat } from "./chat/check.ts";
import { CODECS } from "./codecs.ts";
import { isContent, wrongContent } from "./items/content.ts";
import { withoutForeignReasoning } from "./items/reasoning.ts";
import { areHostedToolsOptional, type ItemRequest } from "./items/request.ts";
import { schemaAsTool } from "./items/schema-tool.ts";
import { acceptedNames, type ToolNames } from "./items/tool-names.ts";
import { isForeign, SEVERAL, Untranslatable, unsupportedBy } from "./items/unsupported.ts";
import { longestAnswer } from "./messages/request.ts";
import { withoutStrictTools, withSchemas } from "./messages/schemas.ts";
import { meetRequirements } from "./requirements.ts";
import { checkResponses } from "./responses/check.ts";
import { flattenNamespaces, type Namespaces } from "./responses/namespaces.ts";
import { withEncrypted } from "./responses/request.ts";

/** A request in the upstream's dialect, with everything that the translation of its answer needs. */
export interface TranslatedRequest {
  readonly body: Json;
  /** The client's request. */
  readonly request: ItemRequest;
  /** Name of the tool whose arguments are the answer, because the upstream has no schemas. */
  readonly answerTool?: string | undefined;
  readonly namespaces: Namespaces;
  /** Tools that have another name at the upstream. */
  readonly names: ToolNames;
  /** Types of the tools that were left out. */
  readonly leftOut: readonly string[];
}

export interface Route {
  readonly from: DialectName;
  readonly to: DialectName;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Name of the model in signatures of reasoning. Default: `model`. */
  readonly origin?: string | undefined;
  /** Whether the upstream sends the usage of a stream only on request. */
  readonly requestsUsage: boolean;
  /** Whether tools that the model can do without must not be left out. */
  readonly strict?: boolean | undefined;
  /** Whether a model that speaks Messages accepts a schema of its answer, and of the arguments of its tools. */
  readonly schemas?: boolean | undefined;
}

/**
 * Translates a request of a client to a dialect that the upstream speaks. Throws Untranslatable if
 * the dialect has no place for a part of it.
 */
export function translateRequest(given: Json, route: Route) {
  const { from, to, model, origin = model, strict = false } = route;
  CHECKS[from]?.(given);
  const [name, list] = from === "responses" ? ["input", given.input] : ["messages", given.messages];
  const wrong = isContent(given.system) ? wrongContent(list, String(name)) : "system";
  if (wrong !== undefined) {
    throw new Untranslatable(`${wrong} is neither text nor a list of parts`, wrong);
  }
  const { body, namespaces } = flattenNamespaces(given);
  const whole = CODECS[from].parseRequest(body);
  const { request, leftOut } = strict ? { request: whole, leftOut: [] } : withoutExtras(whole, to);
  const lacks = unsupportedBy(to, request);
  if (lacks.length > 0) {
    const isTool = request.tools?.some((tool) => isForeign(tool, to));
    const param = isTool ? "tools" : lacks.includes(SEVERAL) ? "n" : undefined;
    throw new Untranslatable(`${lacks.join(", ")} cannot be sent in the dialect ${to}`, param);
  }
  const items = withoutForeignReasoning(request.items, { dialect: to, model: origin });
  const { request: named, names } = acceptedNames({ ...request, items, model }, to);
  const { request: adapted, answerTool } = adapt(named, route);
  const written = CODECS[to].writeRequest(adapted);
  return {
    body: written,
    // The answer is translated for the client's own tools, which `whole` has without their namespaces.
    request: namespaces.size === 0 ? whole : CODECS[from].parseRequest(given),
    answerTool,
    namespaces,
    names,
    leftOut,
  } satisfies TranslatedRequest;
}

/**
 * Leaves hosted tools out that the upstream does not have, if the model also has functions and is
 * free to choose. Agents offer such tools with every request.
 */
function withoutExtras(request: ItemRequest, to: DialectName) {
  const { tools = [] } = request;
  if (!areHostedToolsOptional(request)) return { request, leftOut: [] };
  const leftOut = tools.flatMap((tool) => (isForeign(tool, to) ? [String(tool.value.type)] : []));
  return { request: { ...request, tools: tools.filter((tool) => !isForeign(tool, to)) }, leftOut };
}

const CHECKS: Readonly<Partial<Record<DialectName, (body: Json) => void>>> = {
  chat: checkChat,
  responses: checkResponses,
};

/** Sets members that the upstream's dialect requires and the client's dialect does not have. */
function adapt(request: ItemRequest, { to, requestsUsage, schemas = false }: Route) {
  if (to === "messages") {
    const maxTokens = positive(request.maxTokens) ?? longestAnswer(request.model);
    const accepted = meetRequirements({ ...request, maxTokens }, to);
    return withSchemas(accepted, schemas) ?? schemaAsTool(withoutStrictTools(accepted));
  }
  const accepted = meetRequirements(request, to);
  if (to === "chat") {
    const includeUsage = request.stream && requestsUsage ? true : undefined;
    return { request: { ...accepted, includeUsage }, answerTool: undefined };
  }
  // The upstream stores nothing, so it has to send its reasoning along.
  const own = request.extra?.responses;
  const include = withEncrypted(own?.include, request.model);
  const responses = { ...own, include, store: false };
  return {
    request: { ...accepted, extra: { ...request.extra, responses } },
    answerTool: undefined,
  };
}

/** Returns undefined for a limit that is not a positive number. */
function positive(limit: number | undefined): number | undefined {
  return limit !== undefined && limit >= 1 ? Math.floor(limit) : undefined;
}
