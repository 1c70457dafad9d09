import type { ListedModel } from "../../api/model.ts";
import type { DialectName } from "../wire/dialect-names.ts";

/** Features and size of a model. An unknown feature counts as present: a wrong guess costs one fallback. */
export type Capabilities = NonNullable<ListedModel["capabilities"]>;

/** Features and tokens that a request needs. */
export interface Needs {
  readonly vision: boolean;
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number;
  /** Limit that the client sets on the answer, in tokens. */
  readonly answerTokens: number | undefined;
  /** Tokens of the answer that must fit into the context. Default: `answerTokens`. */
  readonly roomTokens?: number | undefined;
  /** A part of the request that cannot be translated, and the dialect that the upstream itself must speak for it. */
  readonly native?: NativeNeed | undefined;
  /** Whether only a model with a price may answer. */
  readonly priced?: boolean | undefined;
}

interface NativeNeed {
  readonly dialect: DialectName;
  /** Member of the request. */
  readonly param: string;
  /** The part of the request, for errors: "the tool web_search". */
  readonly what: string;
}

/** Names the need that a model does not meet, or returns undefined if it can serve the request. */
export function lackOf(model: Capabilities, needs: Needs): string | undefined {
  if (needs.vision && model.vision === false) return "accepts no images";
  if (needs.tools && model.tools === false) return "supports no tools";
  if (needs.jsonSchema && model.json_schema === false) return "supports no JSON schema";
  const tokens = needs.promptTokens + (needs.roomTokens ?? needs.answerTokens ?? 0);
  if (model.context !== undefined && tokens > model.context) {
    return `has a context of ${model.context} tokens, but the request needs about ${tokens}`;
  }
  return undefined;
}
