import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import type { PromptCache } from "./answer-price.ts";
import { Breaker, guarded } from "./breaker.ts";
import type { Capabilities } from "./capabilities.ts";
import { LearnedLimits } from "./learned-limits.ts";
import { ParameterProfile } from "./parameters/profile.ts";
import type { ParameterRules } from "./parameters/rules.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Adaptation, Upstream, UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";
import { costOf, type Price, type Usage } from "./upstream/usage.ts";

/** A model as it is configured. */
export interface ModelSpec {
  /** Name that clients and votes use. */
  readonly name: string;
  readonly provider: string;
  /** Name that the provider uses. */
  readonly upstreamName: string;
  readonly price?: Price | undefined;
  readonly cache: PromptCache;
  readonly capabilities: Capabilities;
  readonly retries: number;
  /** Parameters that the model is known to refuse. */
  readonly rules?: ParameterRules | undefined;
}

/** A model that can be called: its upstream with retries and a circuit breaker of its own. */
export class ServedModel {
  readonly spec: ModelSpec;
  /** Dialects that the host itself speaks. */
  readonly dialects: readonly DialectName[];
  readonly breaker: Breaker;
  /** Limits that the model's refusals have shown. */
  readonly learned: LearnedLimits;
  readonly #upstream: Upstream;
  readonly #profile: ParameterProfile;
  readonly #onRetry: (error: UpstreamError) => void;

  constructor(spec: ModelSpec, host: Upstream, { clock, random, onRetry }: ModelTools) {
    this.spec = spec;
    this.dialects = host.dialects ?? ["chat"];
    this.breaker = new Breaker(clock);
    this.learned = new LearnedLimits(clock);
    this.#profile = new ParameterProfile(spec.rules ?? {}, clock);
    this.#onRetry = (error) => onRetry(spec.name, error);
    this.#upstream = retrying(
      guarded(host, this.breaker),
      { ...RETRIES, retries: spec.retries },
      clock,
      random.split(spec.name),
      this.#onRetry,
    );
  }

  get name(): string {
    return this.spec.name;
  }

  /**
   * Calls the model with a request that is adapted to it, unless the request is strict. A refusal
   * that names a parameter is remembered, and the request is sent again without it.
   */
  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const own = { ...request, model: this.spec.upstreamName };
    for (let attempt = 0; ; attempt++) {
      const adapted: Adaptation[] = [];
      const adapt = request.strict ? undefined : this.#profile.adapter(adapted);
      try {
        const answer = await this.#upstream.call(adapt ? { ...own, adapt } : own, signal);
        if (adapted.length === 0) return answer;
        return { ...answer, adapted: [...(answer.adapted ?? []), ...adapted] };
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.learned.learn(error.refusal, request.tokens ?? Math.ceil(request.body.length / 4));
        const isNew = this.#profile.learn(error.refusal);
        if (!isNew || request.strict || attempt >= MAX_ADAPTED || signal.aborted) throw error;
        this.#onRetry(error);
      }
    }
  }

  /** Capabilities of the configuration or the catalog, limited by what the model has refused. */
  get capabilities(): Capabilities {
    return this.learned.apply(this.spec.capabilities);
  }

  /** Whether the circuit breaker is open, because the model has failed often. */
  get isResting(): boolean {
    return this.breaker.state === "open";
  }

  /** The most that an answer can cost in US dollars, or undefined if the price is unknown. */
  mostCost(promptTokens: number, answerLimit: number | undefined): number | undefined {
    const { price, capabilities } = this.spec;
    if (!price) return undefined;
    const answer = answerLimit ?? Math.min(capabilities.context ?? LONGEST_ANSWER, LONGEST_ANSWER);
    const input = Math.max(price.input, price.cache_write ?? 0);
    return (UNDERCOUNT * promptTokens * input + answer * price.output) / 1e6;
  }

  /** Cost of an answer in US dollars, or undefined if usage or price is unknown. */
  cost(usage: Usage | undefined): number | undefined {
    return costOf(usage, this.spec.price);
  }

  /** Cost of a usage at the list price in US dollars, or 0 if the price is unknown. */
  listCost(usage: Usage): number {
    return costOf({ ...usage, cost: undefined }, this.spec.price) ?? 0;
  }
}

export interface ModelTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly onRetry: (model: string, error: UpstreamError) => void;
}

/** Attempts with another set of parameters. Most providers report one parameter at a time. */
const MAX_ADAPTED = 4;

/** Tokens that an answer without a limit is assumed to have at most, to compute its highest cost. */
const LONGEST_ANSWER = 16_384;
/** Factor by which the tokens of a prompt may exceed their estimate from its bytes. */
const UNDERCOUNT = 1.5;

export const RETRIES = {
  retries: 2,
  /** Longest wait before the first retry; it doubles with every retry, up to `capMs`. */
  baseMs: 250,
  capMs: 4000,
  /** If the upstream asks for a longer wait, it is not retried and another model can answer. */
  maxRetryAfterMs: 5000,
};

/** Adds retries to an upstream. A call is only retried before the first byte of its answer. */
export function retrying(
  upstream: Upstream,
  settings: typeof RETRIES,
  clock: Clock,
  random: Random,
  onRetry: (error: UpstreamError) => void = () => {},
): Upstream {
  return {
    name: upstream.name,
    async call(request, signal) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await upstream.call(request, signal);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          const wait = waitBefore(attempt, error, settings, random);
          if (wait === undefined) throw error;
          onRetry(error);
          await clock.sleep(wait, signal).catch((cause) => {
            const problem = "was cancelled before the next attempt";
            throw new UpstreamError("cancelled", upstream.name, problem, { cause });
          });
        }
      }
    },
  };
}

/**
 * Wait before the next attempt, or undefined to give up. It is the upstream's own wait plus full
 * jitter, uniform on [0, min(cap, base 2^attempt)), which spreads clients best (Brooker 2015,
 * "Exponential backoff and jitter").
 */
function waitBefore(
  attempt: number,
  error: UpstreamError,
  { retries, baseMs, capMs, maxRetryAfterMs }: typeof RETRIES,
  random: Random,
): number | undefined {
  const rest = error.retryAfter ?? 0;
  if (!error.retryable || attempt >= retries || rest > maxRetryAfterMs) return undefined;
  return rest + random.uniform() * Math.min(capMs, baseMs * 2 ** attempt);
}
