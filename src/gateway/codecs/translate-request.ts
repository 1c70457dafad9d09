import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { checkChat } from "./chat/check.ts";
import { CODECS } from "./codecs.ts";
import { withoutForeignReasoning } from "./items/reasoning.ts";
import type { ItemRequest } from "./items/request.ts";
import { schemaAsTool } from "./items/schema-tool.ts";
import { Untranslatable, unsupportedBy } from "./items/unsupported.ts";
import { meetRequirements } from "./messages/requirements.ts";
import { checkResponses } from "./responses/check.ts";

/** A request in the upstream's dialect, with everything that the translation of its answer needs. */
interface TranslatedRequest {
  readonly body: Json;
  /** The client's request. */
  readonly request: ItemRequest;
  /** Name of the tool whose arguments are the answer, because the upstream has no schemas. */
  readonly answerTool?: string | undefined;
}

interface Route {
  readonly from: DialectName;
  readonly to: DialectName;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Whether the upstream sends the usage of a stream only on request. */
  readonly asksUsage: boolean;
}

/**
 * Translates a request of a client to a dialect that the upstream speaks. Throws Untranslatable if
 * the dialect has no place for a part of it.
 */
export function translateRequest(body: Json, { from, to, model, asksUsage }: Route) {
  CHECKS[from]?.(body);
  const request = CODECS[from].parseRequest(body);
  const lacks = unsupportedBy(to, request);
  if (lacks.length > 0) throw new Untranslatable(`${lacks.join(", ")} has no place in ${to}`);
  const items = withoutForeignReasoning(request.items, { dialect: to, model });
  const { request: adapted, answerTool } = adapt({ ...request, items, model }, to, asksUsage);
  const written = CODECS[to].writeRequest(adapted);
  return { body: written, request, answerTool } satisfies TranslatedRequest;
}

const CHECKS: Readonly<Partial<Record<DialectName, (body: Json) => void>>> = {
  chat: checkChat,
  responses: checkResponses,
};

/** Sets what the upstream's dialect needs and the client's dialect does not say. */
function adapt(request: ItemRequest, to: DialectName, asksUsage: boolean) {
  if (to === "messages") {
    const maxTokens = positive(request.maxTokens) ?? longestAnswer(request.model);
    return schemaAsTool(meetRequirements({ ...request, maxTokens }));
  }
  if (to === "chat") {
    const includeUsage = request.stream && asksUsage ? true : undefined;
    return { request: { ...request, includeUsage }, answerTool: undefined };
  }
  // The upstream stores nothing, so it has to send its reasoning along.
  const own = request.extra?.responses;
  const encrypted = /^(gpt-[34]|chatgpt)/.test(request.model)
    ? []
    : ["reasoning.encrypted_content"];
  const include = [...new Set([...listed(own?.include), ...encrypted])];
  const responses = { ...own, include, store: false };
  return { request: { ...request, extra: { ...request.extra, responses } }, answerTool: undefined };
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Tokens that an answer of Anthropic's models may have. The limit is required there. */
function longestAnswer(model: string): number {
  if (/claude-(2|instant|3-(opus|sonnet|haiku))/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 16_384;
}

/** Returns undefined for a limit that is not a positive number. */
function positive(limit: number | undefined): number | undefined {
  return limit !== undefined && limit >= 1 ? Math.floor(limit) : undefined;
}
