import type { Clock } from "../clock/clock.ts";
import type { Capabilities } from "./capabilities.ts";
import { type Feature, LEARNED_MS, type Refusal } from "./upstream/refusal.ts";

/** Limits of a model that its own refusals have shown. They are kept in memory and expire. */
export class LearnedLimits {
  readonly #clock: Clock;
  readonly #until = new Map<Feature, number>();
  #context: { readonly tokens: number; readonly until: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Remembers the limit that a refusal has shown. `tokens` is the estimated length of the request. The
   * context is remembered in the same estimate, so that the same request is not sent here again.
   */
  learn(refusal: Refusal | undefined, tokens: number): void {
    const until = this.#clock.now() + LEARNED_MS;
    if (refusal?.kind === "unsupported_feature") this.#until.set(refusal.feature, until);
    if (refusal?.kind !== "context_length") return;
    const limit = Math.min(refusal.limit ?? tokens - 1, tokens - 1);
    if (limit > 0) this.#context = { tokens: Math.min(limit, this.context ?? limit), until };
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
    if (this.#context && this.#clock.now() >= this.#context.until) this.#context = undefined;
    return this.#context?.tokens;
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
