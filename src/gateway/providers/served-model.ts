import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import { BREAKER, Breaker, guarded } from "./breaker.ts";
import type { Capabilities } from "./capabilities.ts";
import { RETRIES, retrying } from "./retry.ts";
import type { UpstreamError } from "./upstream/error.ts";
import type { Upstream } from "./upstream/upstream.ts";
import { costOf, type Price, type Usage } from "./upstream/usage.ts";

/** A model as it is configured. */
export interface ModelSpec {
  /** Name that clients and votes use. */
  readonly name: string;
  readonly provider: string;
  /** Name that the provider uses. */
  readonly upstreamName: string;
  readonly price?: Price | undefined;
  readonly capabilities: Capabilities;
  readonly retries: number;
}

/** A model that can be called: its upstream with retries and a circuit breaker of its own. */
export class ServedModel {
  readonly spec: ModelSpec;
  readonly upstream: Upstream;
  readonly breaker: Breaker;
  /** Moving mean of the tokens of an answer. */
  #answerTokens = FIRST_GUESS;

  constructor(spec: ModelSpec, host: Upstream, { clock, random, onRetry }: ModelTools) {
    this.spec = spec;
    this.breaker = new Breaker(BREAKER, clock);
    this.upstream = retrying(
      guarded(host, this.breaker),
      { ...RETRIES, retries: spec.retries },
      clock,
      random.split(spec.name),
      (error) => onRetry(spec.name, error),
    );
  }

  get name(): string {
    return this.spec.name;
  }

  /** Whether the circuit breaker is open, because the model has failed often. */
  get isResting(): boolean {
    return this.breaker.state === "open";
  }

  /** Expected cost of an answer in US dollars, or undefined if the price is unknown. */
  expectedCost(promptTokens: number, answerLimit: number | undefined): number | undefined {
    const { price } = this.spec;
    if (!price) return undefined;
    const answer = Math.min(this.#answerTokens, answerLimit ?? Infinity);
    return (promptTokens * price.input + answer * price.output) / 1e6;
  }

  /** Cost of an answer in US dollars, or undefined if usage or price is unknown. */
  cost(usage: Usage | undefined): number | undefined {
    return costOf(usage, this.spec.price);
  }

  /** Updates the mean length of an answer. */
  learnLength(usage: Usage | undefined): void {
    if (!usage || usage.completionTokens === 0) return;
    this.#answerTokens += NEWEST_WEIGHT * (usage.completionTokens - this.#answerTokens);
  }

  /** Takes over the mean length of an answer from the same model of an earlier configuration. */
  inherit(before: ServedModel): void {
    this.#answerTokens = before.#answerTokens;
  }
}

export interface ModelTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly onRetry: (model: string, error: UpstreamError) => void;
}

/** Tokens of an answer before anything is known. */
const FIRST_GUESS = 300;
/** Weight of the newest answer in the mean. */
const NEWEST_WEIGHT = 0.05;
