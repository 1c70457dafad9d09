import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import type { PromptCache } from "./answer-price.ts";
import type { BreakerState } from "./breaker.ts";
import type { Capabilities } from "./capabilities.ts";
import {
  balanced,
  Deployment,
  type DeploymentSpec,
  type DeploymentTools,
  tokensOf,
  type Used,
} from "./deployment.ts";
import { LearnedLimits } from "./learned-limits.ts";
import { refusedRequest } from "./refused-request.ts";
import { UpstreamError } from "./upstream/error.ts";
import { tokensOfBytes } from "./upstream/text-tokens.ts";
import {
  type HeldRequest,
  isTimedOut,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
  withLost,
} from "./upstream/upstream.ts";
import { costOf, NO_USAGE, type Price, type Usage } from "./upstream/usage.ts";

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
  /** Whether the model answers no requests. */
  readonly isDisabled?: boolean;
}

/** A deployment and the upstream that it is called at. */
export interface DeployedUpstream {
  readonly spec: DeploymentSpec;
  readonly upstream: Upstream;
}

/** A model that can be called: one or more deployments, with retries. The learner sees one model. */
export class ServedModel {
  readonly spec: ModelSpec;
  readonly deployments: readonly Deployment[];
  /** Dialects that all deployments speak themselves. */
  readonly dialects: readonly DialectName[];
  /** Limits that the model's refusals have shown. */
  readonly learned: LearnedLimits;
  readonly #upstream: Upstream;
  readonly #upstreams: readonly Upstream[];

  constructor(spec: ModelSpec, upstreams: readonly DeployedUpstream[], tools: ModelTools) {
    const { clock, random } = tools;
    const onRetry = (error: UpstreamError) => tools.onRetry(spec.name, error);
    const onCall: DeploymentTools["onCall"] = (deployment, status) =>
      tools.onCall?.(spec.name, deployment, status);
    const onUsed = tools.onUsed?.bind(undefined, spec.name);
    this.spec = spec;
    this.#upstreams = upstreams.map(({ upstream }) => upstream);
    this.deployments = upstreams.map(
      ({ spec: own, upstream }) =>
        new Deployment(own, upstream, { clock, origin: spec.name, onRetry, onCall, onUsed }),
    );
    const [first, ...others] = this.deployments;
    this.dialects = first!.dialects.filter((dialect) =>
      others.every(({ dialects }) => dialects.includes(dialect)),
    );
    this.learned = new LearnedLimits(clock);
    const keys = random.split(spec.name).split("deployments");
    this.#upstream = retrying(
      balanced(spec.name, this.deployments, () => String(keys.uniform())),
      { ...RETRIES, retries: spec.retries },
      clock,
      random.split(spec.name),
      onRetry,
    );
  }

  get name(): string {
    return this.spec.name;
  }

  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    try {
      const answer = await this.#upstream.call(request, signal);
      answer.end.then(({ usage, error }) => {
        if (!usage || error) return;
        const used = usage.promptTokens + usage.completionTokens;
        // The client's limit of the answer says nothing about the context.
        this.learned.answered(Math.min(used, tokensOf(request)));
      });
      return answer;
    } catch (error) {
      if (error instanceof UpstreamError) {
        const { context: known } = this.spec.capabilities;
        this.learned.learn(error.lesson, refusedRequest(request, known));
      }
      throw error;
    }
  }

  /**
   * Asks the upstream that keeps a response about it. Other deployments do not know it. If none answers, the error is
   * that of a deployment which may keep it.
   */
  async held(request: HeldRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    let shown = new UpstreamError("request", this.name, "keeps no responses");
    for (const upstream of this.#upstreams) {
      try {
        const answer = await upstream.held?.(request, signal);
        if (answer) return answer;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        const mayKeep = shown.code !== "request" && shown.status !== 404;
        if (error.code !== "request" && !mayKeep) shown = error;
      }
    }
    throw shown;
  }

  /** Capabilities of the configuration or the catalog, limited by what the model has refused. */
  get capabilities(): Capabilities {
    return this.learned.apply(this.spec.capabilities);
  }

  /** State of the circuit breakers: that of the deployment that is closest to serving. */
  get state(): BreakerState {
    const [only] = this.deployments;
    if (only && this.deployments.length === 1) return only.state;
    const states = this.deployments.map(({ state }) => state);
    return STATES.find((state) => states.includes(state))!;
  }

  /** Whether the circuit breakers of all deployments are open, because they have failed often. */
  get isResting(): boolean {
    return this.state === "open";
  }

  /**
   * The most that an answer can cost in US dollars, or undefined if the price is unknown. `promptTokens` is an upper
   * bound, and `thinkingTokens` may be added to the limit of the answer.
   */
  mostCost(
    promptTokens: number,
    answerLimit: number | undefined,
    thinkingTokens = 0,
  ): number | undefined {
    const { price } = this.spec;
    if (!price) return undefined;
    const answer = answerLimit ?? this.#longestAnswer();
    const input = Math.max(price.input, price.cache_write ?? 0, price.cache_write_1h ?? 0);
    return (promptTokens * input + (answer + thinkingTokens) * price.output) / 1e6;
  }

  /** The most tokens of an answer to a request without a limit. */
  #longestAnswer(): number {
    const { context = LONGEST_ANSWER } = this.spec.capabilities;
    const assumed = Math.min(context, LONGEST_ANSWER);
    const longest = this.deployments.map(({ dialects, spec }) => {
      // A request that is translated to Messages gets this limit, because Messages requires one.
      const isLimited = dialects.every((dialect) => dialect === "messages");
      return isLimited ? assumed : (spec.rules?.maxAnswer ?? assumed);
    });
    return Math.max(...longest);
  }

  /** The most tokens that the model can count for a prompt. A prompt that is longer than its context is refused. */
  mostTokens({ text, images, isFull }: PromptBound): number {
    const { upstreamName, capabilities } = this.spec;
    const { context } = capabilities;
    const image = upstreamName.includes("4o-mini") ? MINI_IMAGE_TOKENS : IMAGE_TOKENS;
    const most = text + images * image + (isFull ? (context ?? LONGEST_PROMPT) : 0);
    return Math.min(most, context ?? Number.POSITIVE_INFINITY);
  }

  /** Cost of an answer in US dollars, or undefined if usage or price is unknown. */
  cost(usage: Usage | undefined): number | undefined {
    return costOf(usage, this.spec.price);
  }

  /** Cost in US dollars of attempts that failed: the cost that the upstream reports or, without one, the list price. */
  lostCost(attempts: readonly Usage[] = []): number {
    return attempts.reduce((sum, usage) => sum + (this.cost(usage) ?? 0), 0);
  }

  /** Cost of a usage at the list price in US dollars, or 0 if the price is unknown. */
  listCost(usage: Usage): number {
    return costOf({ ...usage, cost: undefined }, this.spec.price) ?? 0;
  }
}

/** The parts of a prompt that limit its tokens. */
export interface PromptBound {
  /**
   * Most tokens of the text: one per byte, because vocabularies fall back to single bytes in rare scripts and some have
   * a token per digit; one per number in a list of tokens.
   */
  readonly text: number;
  readonly images: number;
  /**
   * Whether the prompt may fill the context whatever its bytes. A compressed page or silence has few bytes and many
   * tokens, and an address has any number, so there is no smaller bound for sounds, videos and documents.
   */
  readonly isFull: boolean;
}

export interface ModelTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly onRetry: (model: string, error: UpstreamError) => void;
  /** Called when a deployment has begun to answer or has failed. */
  readonly onCall?: (model: string, deployment: string, status: "ok" | "failed") => void;
  /** Called with what was used of a limit per minute of a deployment. */
  readonly onUsed?: OnUsed;
}

type OnUsed = (model: string, deployment: string, ...used: Used) => void;

/** Estimated usage of a call that the model did not answer. */
function promptOf({ promptTokens, body }: UpstreamRequest): Usage {
  return { ...NO_USAGE, promptTokens: promptTokens ?? tokensOfBytes(body.length) };
}

/** States of a circuit breaker, the best first. */
const STATES = ["closed", "half-open", "open"] as const;

/** Tokens that an answer without a limit is assumed to have at most if the model's own maximum is unknown. */
const LONGEST_ANSWER = 16_384;
/** Factor by which the tokens of an honest prompt may exceed their estimate from its bytes. */
export const UNDERCOUNT = 1.5;
/**
 * Most tokens of one image of any size that providers publish: 10,000 patches of GPT-5.4 in its original resolution. Claude
 * counts 4,784 at most, Gemini 4,128.
 */
const IMAGE_TOKENS = 10_000;
/** GPT-4o mini counts 2,833 tokens for an image and 5,667 for each of its 8 tiles. */
const MINI_IMAGE_TOKENS = 48_169;
/** Tokens that a prompt without a known bound is assumed to have at most, for a model whose context is unknown. */
const LONGEST_PROMPT = 1_000_000;

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
      let lost: readonly Usage[] = [];
      for (let attempt = 0; ; attempt++) {
        try {
          return withLost(await upstream.call(request, signal), lost);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          // Providers charge for the prompt even if nobody waits for the answer.
          const prompt = error.isAbandoned ? [promptOf(request)] : [];
          lost = [...lost, ...error.lost, ...prompt];
          error.lost = lost;
          const wait = waitBefore(attempt, error, settings, random);
          if (wait === undefined || isTimedOut(signal)) throw error;
          onRetry(error);
          await clock.sleep(wait, signal).catch((cause) => {
            if (isTimedOut(signal)) throw error;
            const problem = "was cancelled before the next attempt";
            const cancelled = new UpstreamError("cancelled", upstream.name, problem, { cause });
            cancelled.lost = lost;
            throw cancelled;
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
