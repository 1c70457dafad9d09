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
  /** What clients and votes call it. */
  readonly name: string;
  readonly provider: string;
  /** What its provider calls it. */
  readonly upstreamName: string;
  readonly price?: Price | undefined;
  readonly capabilities: Capabilities;
  readonly retries: number;
}

/** A model that can be asked: its upstream with retries and a breaker of its own. */
export class ServedModel {
  readonly spec: ModelSpec;
  readonly upstream: Upstream;
  readonly breaker: Breaker;
  /** Tokens of an answer: a moving mean, that begins with a guess. */
  #answerTokens = FIRST_GUESS;

  constructor(spec: ModelSpec, host: Upstream, tools: ModelTools) {
    const { clock, random, onRetry } = tools;
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

  get isResting(): boolean {
    return this.breaker.state === "open";
  }

  /** US dollars that an answer will cost, as far as one can tell before. Undefined without a price. */
  expectedCost(promptTokens: number, answerLimit: number | undefined): number | undefined {
    const { price } = this.spec;
    if (!price) return undefined;
    const answer = Math.min(this.#answerTokens, answerLimit ?? Infinity);
    return (promptTokens * price.input + answer * price.output) / 1e6;
  }

  /** US dollars that one has cost; undefined where nobody knows. */
  cost(usage: Usage | undefined): number | undefined {
    return costOf(usage, this.spec.price);
  }

  note(usage: Usage | undefined): void {
    if (!usage || usage.completionTokens === 0) return;
    this.#answerTokens += MEMORY * (usage.completionTokens - this.#answerTokens);
  }

  /** What was learnt of the same model, before the configuration was read again. */
  inherit(before: ServedModel): void {
    this.#answerTokens = before.#answerTokens;
  }
}

export interface ModelTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly onRetry: (model: string, error: UpstreamError) => void;
}

/** Tokens of an answer of which nothing is known yet. */
const FIRST_GUESS = 300;
/** Weight of the newest answer in the mean. */
const MEMORY = 0.05;
