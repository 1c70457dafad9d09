import type { DialectName } from "../../wire/dialect-names.ts";
import { exactJson, isExact } from "../../wire/exact.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import type { CacheMark, Extra, MessageItem, OpaquePart, Part, Source } from "./item.ts";
import type { OutputFormat } from "./request.ts";

/** Readers of JSON members that have not been checked. A member of another type counts as absent. */

export function str(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function num(value: unknown): number | undefined {
  const number = isExact(value) ? Number(value.rawJSON) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export function bool(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function record(value: unknown): Json | undefined {
  return isRecord(value) ? value : undefined;
}

/** The objects of a list. */
export function records(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** A count of tokens, if it is plausible. */
export function count(value: unknown): number {
  const isPlausible = typeof value === "number" && Number.isInteger(value) && value > 0;
  return isPlausible && value <= MOST_TOKENS ? value : 0;
}

/** A cost in US dollars, if the upstream reports a plausible one. */
export function dollars(value: unknown): number | undefined {
  const cost = num(value);
  return cost !== undefined && cost >= 0 && cost <= MOST_DOLLARS ? cost : undefined;
}

/**
 * Highest plausible cost of an answer in US dollars. Without this limit, an upstream could spoil
 * all sums and use up a budget.
 */
const MOST_DOLLARS = 10_000;

/** Highest plausible number of tokens of an answer: ten times the longest context. The limit has the same reason. */
const MOST_TOKENS = 100_000_000;

/** The object, or undefined if none of its members is defined. */
export function defined<T extends object>(value: T): T | undefined {
  return Object.values(value).some((each) => each !== undefined) ? value : undefined;
}

/** The object without members that are undefined. */
export function compact(value: Json): Json {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** Members that mean the same in chat and Responses and that no other dialect knows. */
const SHARED = [
  "moderation",
  "prompt_cache_breakpoint",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "store",
] as const;
const shared: ReadonlySet<string> = new Set(SHARED);

/** Members that are not in `known`, for the slot `extra`. Null and empty lists count as absent. */
export function extraOf(
  value: Json,
  known: ReadonlySet<string>,
  dialect: DialectName,
): Extra | undefined {
  let own: Record<string, unknown> | undefined;
  let common: Record<string, unknown> | undefined;
  for (const key in value) {
    const member = value[key];
    if (known.has(key) || member === null || member === undefined) continue;
    if (Array.isArray(member) && member.length === 0) continue;
    if (dialect !== "messages" && shared.has(key)) {
      common ??= {};
      common[key] = member;
    } else {
      own ??= {};
      own[key] = member;
    }
  }
  if (!own && !common) return undefined;
  return { ...(own && { [dialect]: own }), ...(common && { openai: common }) };
}

/** Members of the slot `extra` that a dialect knows. */
export function extraFor(extra: Extra | undefined, dialect: DialectName): Json | undefined {
  if (!extra) return undefined;
  return dialect === "messages" ? extra.messages : { ...extra.openai, ...extra[dialect] };
}

/** Reads cache_control. Chat clients send it too, as OpenRouter and LiteLLM accept it. */
export function readCache(value: unknown): CacheMark | undefined {
  return isRecord(value) ? { ttl: str(value.ttl) } : undefined;
}

/** Reads the detail of an image; "auto" is the default. */
export function readDetail(value: unknown): string | undefined {
  return value === "auto" ? undefined : str(value);
}

export function opaque(dialect: DialectName, value: Json): OpaquePart {
  return { type: "opaque", dialect, value };
}

/** Reads text or a list of parts. Parts without content are left out. */
export function readParts(content: unknown, readPart: (part: Json) => Part): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return records(content).map(readPart).filter(hasContent);
}

/** Reads the role of a message in OpenAI's dialects. */
export function readRole(role: unknown): MessageItem["role"] {
  return role === "system" || role === "developer" || role === "assistant" ? role : "user";
}

/** Reads a format of the answer. `schema` holds the members of a schema. */
export function readFormat({ type }: Json, schema: Json | undefined): OutputFormat | undefined {
  if (type === "text" || type === "json_object") return { type };
  if (type !== "json_schema" || !schema) return undefined;
  return {
    type,
    schema: record(schema.schema) ?? {},
    name: str(schema.name),
    description: str(schema.description),
    strict: bool(schema.strict),
  };
}

/** Whether a part has content. Empty texts are left out, because Anthropic refuses them. */
export function hasContent(part: Part): boolean {
  return (part.type !== "text" && part.type !== "refusal") || part.text !== "";
}

/** Reads a data URL (data:image/png;base64,...) or the address of a file. */
export function readUrl(url: string): Source {
  const match = /^data:([^;,]*)(?:;[^;,]*)*;base64,/.exec(url);
  if (!match) return { type: "url", url };
  return { type: "base64", mediaType: match[1]!, data: url.slice(match[0].length) };
}

/** Reads the data of a file: a data URL, or a PDF in base64. */
export function readFileData(data: string): Source {
  return data.startsWith("data:")
    ? readUrl(data)
    : { type: "base64", mediaType: "application/pdf", data };
}

/** A URL for a source, or undefined if it has none. */
export function writeUrl(source: Source): string | undefined {
  if (source.type === "base64") return `data:${source.mediaType};base64,${source.data}`;
  return source.type === "url" ? source.url : undefined;
}

/**
 * Returns the text of a written list that consists of one plain text, which all dialects
 * can also write as a string; otherwise undefined.
 */
export function plainText(parts: readonly Json[]): string | undefined {
  const [part] = parts;
  const isPlain = parts.length === 1 && Object.keys(compact(part!)).length === 2;
  return isPlain ? str(part!.text) : undefined;
}

/** Reads the data of a server-sent event. Throws a SyntaxError if the data is not JSON. */
export function readEvent(data: string): Json | undefined {
  if (data === "" || data === "[DONE]") return undefined;
  return record(JSON.parse(data));
}

/** The value in a JSON text, with all digits of large integers, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return exactJson(text);
  } catch {
    return undefined;
  }
}
