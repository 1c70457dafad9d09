import type { DialectName } from "../../wire/dialect-names.ts";
import type { Json } from "../../wire/json.ts";
import type { CacheMark, Extra, Item } from "./item.ts";

export interface FunctionTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON schema of the arguments. */
  readonly parameters?: Json | undefined;
  readonly strict?: boolean | undefined;
  /** Set if the input is any text instead of JSON; `format` may limit it by a grammar. */
  readonly custom?: { readonly format?: Json | undefined } | undefined;
  readonly cache?: CacheMark | undefined;
  readonly extra?: Extra | undefined;
}

/** A tool that runs at the provider, such as web search. */
export interface HostedTool {
  readonly type: "hosted";
  readonly dialect: DialectName;
  readonly value: Json;
}

export type Tool = FunctionTool | HostedTool;

export interface ToolChoice {
  readonly mode: "auto" | "none" | "required";
  /** The only tool that may be called, in mode "required". */
  readonly name?: string | undefined;
  readonly custom?: boolean | undefined;
  /** Names of the functions that may be called. */
  readonly allowed?: readonly string[] | undefined;
}

/** Format of the answer. */
export type OutputFormat =
  | { readonly type: "text" | "json_object" }
  | {
      readonly type: "json_schema";
      readonly schema: Json;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly strict?: boolean | undefined;
    };

export interface ReasoningConfig {
  readonly enabled?: boolean | undefined;
  /** "minimal", "low", "medium", "high", "xhigh" or "max". */
  readonly effort?: string | undefined;
  /** Tokens that the model may think. */
  readonly budget?: number | undefined;
  /** Summary of the reasoning: "auto", "concise", "detailed" or "omitted". */
  readonly summary?: string | undefined;
}

/** A request in the internal form. */
export interface ItemRequest {
  readonly model: string;
  readonly stream: boolean;
  /** Instructions apart from the conversation. Other dialects get a first system message. */
  readonly instructions?: string | undefined;
  readonly items: readonly Item[];
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly output?: OutputFormat | undefined;
  readonly verbosity?: string | undefined;
  readonly reasoning?: ReasoningConfig | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  /** Number of answers. */
  readonly choices?: number | undefined;
  /** Number of alternatives per token, if the client wants probabilities. */
  readonly logprobs?: number | undefined;
  /** Whether the client uses `functions`, the older form of tools. */
  readonly legacyFunctions?: boolean | undefined;
  /** Whether the client wants usage at the end of a stream. */
  readonly includeUsage?: boolean | undefined;
  /** Id of the end user, for the provider's abuse checks. */
  readonly user?: string | undefined;
  readonly metadata?: Json | undefined;
  /** Cache mark of the whole request, which the provider places itself. */
  readonly cache?: CacheMark | undefined;
  readonly extra?: Extra | undefined;
}

/** Whether a model can do without the hosted tools: it has functions as well and is free to choose. */
export function areHostedToolsOptional({ tools = [], toolChoice, extra }: ItemRequest): boolean {
  // The choice of a hosted tool is in the slot of its dialect.
  const isFree = !toolChoice || toolChoice.mode === "auto";
  const isHostedChosen = extra?.responses?.tool_choice !== undefined;
  return isFree && !isHostedChosen && tools.some(({ type }) => type === "function");
}
