import type { Clock } from "../clock/clock.ts";
import type { Capabilities } from "./capabilities.ts";
import { type Feature, LEARNED_MS, type Refusal } from "./upstream/refusal.ts";

interface Remembered {
  readonly tokens: number;
  readonly until: number;
}

/** A request that a model has refused. */
export interface RefusedRequest {
  /** Estimated tokens of the prompt and of the longest answer that the client allows. */
  readonly tokens: number;
  /** Context of the model according to the configuration or the catalog. */
  readonly known: number | undefined;
  /** Whether the request uses a feature. */
  readonly uses: (feature: Feature) => boolean;
}

/**
 * The context that a refusal shows: the limit that it states, but always below the size of the refused request.
 * Undefined if the request is far below the limit, so that the refusal is about something else, or if no upstream has
 * so small a context.
 */
function shownLimit(
  stated: number | undefined,
  { tokens, known = 0 }: RefusedRequest,
): number | undefined {
  if (tokens * UNDERCOUNT < (stated ?? known)) return undefined;
  const limit = Math.min(stated ?? tokens, tokens - 1);
  return limit < Math.max(SMALLEST_CONTEXT, Math.min(known, SMALLEST_SHORTENED))
    ? undefined
    : limit;
}

/** The estimate of a request may be a quarter of its tokens. */
const UNDERCOUNT = 4;
/** Models with a smaller context are not in use, so a refusal that shows one is about something else. */
const SMALLEST_CONTEXT = 512;
/** Smallest context with which upstreams serve a model that has a longer one. It was the default of Ollama. */
const SMALLEST_SHORTENED = 2048;

/** Limits of a model that its own refusals have shown. They are kept in memory and expire. */
export class LearnedLimits {
  readonly #clock: Clock;
  readonly #until = new Map<Feature, number>();
  #context: Remembered | undefined;
  /** Longest request that the model has answered. */
  #answered: Remembered | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Remembers the limit that a refusal has shown. The context is remembered in the gateway's estimate of
   * tokens, so that the same request is not sent here again. A limit is never smaller than a
   * request that the model has answered.
   */
  learn(lesson: Refusal | undefined, refused: RefusedRequest): void {
    const until = this.#clock.now() + LEARNED_MS;
    if (lesson?.kind === "unsupported_feature" && refused.uses(lesson.feature)) {
      this.#until.set(lesson.feature, until);
    }
    if (lesson?.kind !== "context_length") return;
    const limit = shownLimit(lesson.limit, refused);
    if (limit === undefined) return;
    const tokens = Math.max(limit, this.#recent(this.#answered) ?? 0);
    this.#context = { tokens: Math.min(tokens, this.context ?? tokens), until };
  }

  /** Remembers that the model has answered a request of this many tokens. */
  answered(tokens: number): void {
    if (tokens <= (this.#recent(this.#answered) ?? 0)) return;
    this.#answered = { tokens, until: this.#clock.now() + LEARNED_MS };
    if (this.#context && this.#context.tokens < tokens)
      this.#context = { ...this.#context, tokens };
  }

  #recent(limit: Remembered | undefined): number | undefined {
    return limit && this.#clock.now() < limit.until ? limit.tokens : undefined;
  }

  lacks(feature: Feature): boolean {
    const until = this.#until.get(feature);
    if (until === undefined) return false;
    if (this.#clock.now() < until) return true;
    this.#until.delete(feature);
    return false;
  }

  /**
   * Largest number of tokens, of prompt and answer together, that the model accepts
   * according to its refusals; undefined if unknown.
   */
  get context(): number | undefined {
    return this.#recent(this.#context);
  }

  /** The capabilities as far as they are known: those of the configuration, limited by what was learned. */
  apply(capabilities: Capabilities): Capabilities {
    const { context } = this;
    if (context === undefined && this.#until.size === 0) return capabilities;
    const kept = (feature: Exclude<Feature, "schema_with_tools">) =>
      this.lacks(feature) ? false : capabilities[feature];
    return {
      context:
        context === undefined
          ? capabilities.context
          : Math.min(context, capabilities.context ?? context),
      vision: kept("vision"),
      tools: kept("tools"),
      json_schema: kept("json_schema"),
    };
  }
}
