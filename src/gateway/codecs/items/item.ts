import type { DialectName } from "../../wire/dialect-names.ts";
import type { Json } from "../../wire/json.ts";

/**
 * The form of a conversation between the three dialects: a list of items, as in Open Responses.
 * A codec translates a wire format to items and back; no codec knows another one.
 */

/**
 * Members that have no place in the internal form, as they were on the wire, by the dialect that
 * knows them. Chat and Responses share the members under `openai`.
 */
export type Extra = Readonly<Partial<Record<DialectName | "openai", Json>>>;

/** Mark that ends a cached prefix of the prompt (Anthropic's cache_control). */
export interface CacheMark {
  /** Lifetime of the entry: "5m" or "1h". */
  readonly ttl?: string | undefined;
}

interface Slots {
  readonly cache?: CacheMark | undefined;
  readonly extra?: Extra | undefined;
}

export type Source =
  | { readonly type: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  /** A file that was uploaded to the provider. */
  | { readonly type: "file"; readonly id: string }
  | { readonly type: "text"; readonly text: string };

interface TextPart extends Slots {
  readonly type: "text";
  readonly text: string;
  readonly logprobs?: readonly Json[] | undefined;
}
interface ImagePart extends Slots {
  readonly type: "image";
  readonly source: Source;
  readonly detail?: string | undefined;
}
interface DocumentPart extends Slots {
  readonly type: "document";
  readonly source: Source;
  readonly filename?: string | undefined;
}
interface AudioPart extends Slots {
  readonly type: "audio";
  readonly data: string;
  readonly format: string;
}
interface RefusalPart extends Slots {
  readonly type: "refusal";
  readonly text: string;
}
/** A part that only one dialect knows. */
export interface OpaquePart {
  readonly type: "opaque";
  readonly dialect: DialectName;
  readonly value: Json;
}
export type Part = TextPart | ImagePart | DocumentPart | AudioPart | RefusalPart | OpaquePart;

export interface MessageItem {
  readonly type: "message";
  readonly id?: string | undefined;
  readonly role: "system" | "developer" | "user" | "assistant";
  readonly content: readonly Part[];
  readonly extra?: Extra | undefined;
}

/** Dialect and model that made a reasoning item. Only that model can verify its signature. */
export interface Origin {
  readonly dialect: DialectName;
  readonly model?: string | undefined;
}

export interface ReasoningItem {
  readonly type: "reasoning";
  readonly id?: string | undefined;
  /** Summaries that the provider shows instead of the model's own words. */
  readonly summary: readonly string[];
  /** The model's own words. */
  readonly text: readonly string[];
  /** Anthropic's signature or OpenAI's encrypted content. */
  readonly signature?: string | undefined;
  /** Whether the item has only a signature and no text (Anthropic's redacted_thinking). */
  readonly redacted?: boolean | undefined;
  readonly origin?: Origin | undefined;
}

export interface FunctionCallItem extends Slots {
  readonly type: "function_call";
  readonly id?: string | undefined;
  readonly callId: string;
  readonly name: string;
  /** JSON text, or any text if the tool is a custom one. */
  readonly arguments: string;
  readonly custom?: boolean | undefined;
}

export interface FunctionCallOutputItem extends Slots {
  readonly type: "function_call_output";
  readonly id?: string | undefined;
  readonly callId: string;
  readonly output: readonly Part[];
  readonly isError?: boolean | undefined;
  readonly custom?: boolean | undefined;
}

/** Call or result of a tool that runs at the provider, or any item that only one dialect knows. */
interface HostedItem {
  readonly type: "hosted";
  readonly dialect: DialectName;
  readonly value: Json;
}

export type Item =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | FunctionCallOutputItem
  | HostedItem;

/** Whether the model made the item. Hosted items occur in answers, and in requests that repeat earlier answers. */
export function isOfModel(item: Item): boolean {
  return item.type === "message" ? item.role === "assistant" : item.type !== "function_call_output";
}
