import { createHash } from "node:crypto";
import type { Clock } from "../clock/clock.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import { Breaker, type BreakerState, guarded } from "./breaker.ts";
import { MinuteWindow } from "./minute-window.ts";
import { ParameterProfile } from "./parameters/profile.ts";
import type { ParameterRules } from "./parameters/rules.ts";
import { UpstreamError } from "./upstream/error.ts";
import { tokensOfBytes } from "./upstream/text-tokens.ts";
import {
  type Adaptation,
  DIALECT_OF,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
  withLost,
} from "./upstream/upstream.ts";
import { type Usage, usageOf } from "./upstream/usage.ts";

/** An endpoint or key behind a model, as it is configured. */
export interface DeploymentSpec {
  /** Name in metrics and lists. */
  readonly name: string;
  readonly provider: string;
  /** Name of the model at the provider. */
  readonly upstreamName: string;
  /** Share of the traffic, relative to the other deployments. */
  readonly weight: number;
  /** Requests per minute. */
  readonly rpm?: number | undefined;
  /** Tokens per minute, prompts and answers together. */
  readonly tpm?: number | undefined;
  /** Parameters that it is known to refuse. */
  readonly rules?: ParameterRules | undefined;
}

export interface DeploymentTools {
  readonly clock: Clock;
  /** Name of the model as clients know it. Default: the name of the request. */
  readonly origin?: string;
  /** Called for each call that has ended before its first byte, or begun to answer. */
  readonly onCall: (deployment: string, status: "ok" | "failed") => void;
  /** Called before a request is sent again with other parameters. */
  readonly onRetry: (error: UpstreamError) => void;
  /** Called with what was used of a limit per minute, for the other processes of this machine. */
  readonly onUsed?: ((deployment: string, ...used: Used) => void) | undefined;
}

/**
 * An amount of a limit per minute. `age` is 0 or, if the amount corrects an earlier one, the milliseconds since that
 * one. It is not a time, because the clocks of two processes have no common zero.
 */
export type Used = [limit: MinuteLimit, amount: number, age: number];

/** A limit per minute of a deployment. */
type MinuteLimit = "requests" | "tokens";

/** One endpoint or key behind a model, with its own circuit breaker, limits and parameters. */
export class Deployment {
  readonly spec: DeploymentSpec;
  readonly dialects: readonly DialectName[];
  readonly #breaker: Breaker;
  readonly #upstream: Upstream;
  readonly #profile: ParameterProfile;
  readonly #windows: Readonly<Record<MinuteLimit, MinuteWindow | undefined>>;
  readonly #tools: DeploymentTools;

  constructor(spec: DeploymentSpec, upstream: Upstream, tools: DeploymentTools) {
    const { clock } = tools;
    this.spec = spec;
    this.dialects = upstream.dialects ?? ["chat"];
    this.#tools = tools;
    this.#breaker = new Breaker(clock);
    // A call that the breaker refuses does not count against the limits.
    const call: Upstream["call"] = (request, signal) => this.#counted(upstream, request, signal);
    this.#upstream = guarded({ name: upstream.name, call }, this.#breaker);
    this.#profile = new ParameterProfile(spec.rules ?? {}, clock);
    this.#windows = {
      requests: spec.rpm === undefined ? undefined : new MinuteWindow(spec.rpm, clock),
      tokens: spec.tpm === undefined ? undefined : new MinuteWindow(spec.tpm, clock),
    };
  }

  get state(): BreakerState {
    return this.#breaker.state;
  }

  /** Milliseconds until the limits per minute admit a request; 0 if they do now. */
  wait(tokens: number): number {
    const { requests: calls, tokens: all } = this.#windows;
    return Math.max(calls?.wait(1) ?? 0, all?.wait(tokens) ?? 0);
  }

  /** Counts what another process of this machine has used of a limit. */
  usedElsewhere(...[limit, amount, age]: Used): void {
    this.#windows[limit]?.add(amount, age);
  }

  #use(limit: MinuteLimit, amount: number, age = 0): void {
    const window = this.#windows[limit];
    if (!window) return;
    window.add(amount, age);
    this.#tools.onUsed?.(this.spec.name, limit, amount, age);
  }

  /**
   * Sends a request that is adapted to the deployment, unless it is strict. After a refusal that names a
   * parameter, the request is sent again without it; if it is answered, the refusal is remembered.
   */
  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { upstreamName: model, name } = this.spec;
    const { onCall, onRetry, origin = request.origin } = this.#tools;
    const dialect = DIALECT_OF[request.endpoint];
    const isTranslated = dialect !== undefined && !this.dialects.includes(dialect);
    const rules = request.strict ? undefined : this.#profile.forRequest(isTranslated);
    for (let attempt = 0; ; attempt++) {
      const adapted: Adaptation[] = [];
      const adapt = rules?.adapter(adapted);
      try {
        const schemas = rules ? rules.schemas : this.#profile.rules?.schemas;
        const headers = rules ? rules.headers(request.headers) : request.headers;
        const own = { ...request, model, origin, schemas, headers, adapt };
        const answer = await this.#upstream.call(own, signal);
        onCall(name, "ok");
        rules?.confirm();
        if (adapted.length === 0) return answer;
        return { ...answer, adapted: [...(answer.adapted ?? []), ...adapted] };
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        if (error.code !== "cancelled") onCall(name, "failed");
        const isChanged = rules?.find(error.refusal, error.lesson);
        if (!isChanged || attempt >= MAX_ADAPTED || signal.aborted) throw error;
        onRetry(error);
      }
    }
  }

  /** Counts a call against the limits per minute: first its estimated tokens, in the end the real ones. */
  async #counted(
    upstream: Upstream,
    request: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    this.#use("requests", 1);
    if (!this.#windows.tokens) return upstream.call(request, signal);
    const { clock } = this.#tools;
    const estimated = tokensOf(request);
    const estimatedAt = clock.now();
    const correct = (tokens: number) =>
      this.#use("tokens", tokens - estimated, clock.now() - estimatedAt);
    this.#use("tokens", estimated);
    try {
      const answer = await upstream.call(request, signal);
      answer.end.then((end) => {
        const used = usageOf(end, tokensOfBytes(request.body.length));
        const tokens = used.promptTokens + used.completionTokens;
        // Without usage, the body says more than the prompt: an image has many bytes and few tokens.
        correct(end.usage ? tokens : Math.min(estimated, tokens));
      });
      return answer;
    } catch (error) {
      correct(0);
      throw error;
    }
  }
}

/** Attempts with another set of parameters. Most providers report one parameter at a time. */
const MAX_ADAPTED = 4;

/** Estimated tokens of a request. */
export function tokensOf({ tokens, body }: UpstreamRequest): number {
  return tokens ?? tokensOfBytes(body.length);
}

/**
 * Deployments of a model as one upstream. A conversation stays with its deployment, whose prompt cache
 * knows it. If a deployment fails, has failed often or has reached its limits, the next one is called.
 */
export function balanced(
  name: string,
  deployments: readonly Deployment[],
  newKey: () => string,
): Upstream {
  const limited = (retryAfter: number) => {
    const problem = "has reached its limit of requests or tokens per minute";
    return new UpstreamError("limited", name, problem, { retryAfter });
  };
  const [only, ...others] = deployments;
  if (only && others.length === 0) {
    return {
      name,
      call(request, signal) {
        const wait = only.wait(tokensOf(request));
        return wait > 0 ? Promise.reject(limited(wait)) : only.call(request, signal);
      },
    };
  }
  return {
    name,
    async call(request, signal) {
      const tokens = tokensOf(request);
      const ready = deployments.filter((one) => one.wait(tokens) === 0);
      if (ready.length === 0) {
        throw limited(Math.min(...deployments.map((one) => one.wait(tokens))));
      }
      const ordered = byAffinity(ready, request.affinity ?? newKey());
      const healthy = ordered.filter(({ state }) => state !== "open");
      const queue = healthy.length > 0 ? healthy : ordered;
      let lost: readonly Usage[] = [];
      let failure: UpstreamError | undefined;
      for (let i = 0; ; i++) {
        const deployment = queue[i]!;
        try {
          const answer = withLost(await deployment.call(request, signal), lost);
          return { ...answer, deployment: deployment.spec.name };
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          lost = [...lost, ...error.lost];
          // Another deployment would fail at once, and count as broken, when the caller's time is over.
          const isLast = error.fault !== "upstream" || i + 1 === queue.length || signal.aborted;
          // If all fail, they are retried as soon as one of them may answer.
          if (error.fault !== "upstream" || retryIn(error) <= retryIn(failure)) failure = error;
          if (!isLast) continue;
          failure!.lost = lost;
          throw failure;
        }
      }
    },
  };
}

/** Milliseconds after which a failed call may be repeated. */
function retryIn(error: UpstreamError | undefined): number {
  return error?.retryable ? (error.retryAfter ?? 0) : Number.POSITIVE_INFINITY;
}

/**
 * Orders deployments for a key by weighted rendezvous hashing: the score of a deployment is -weight / ln(h)
 * with h uniform on (0, 1) by hash. Each is first with the probability of its weight, and if one is added
 * or removed, only its own keys move (Schindelhauer and Schomaker 2005).
 */
export function byAffinity(deployments: readonly Deployment[], key: string): Deployment[] {
  const scored = deployments.map((deployment) => {
    const { name, weight } = deployment.spec;
    const bytes = createHash("sha256").update(`${name}\n${key}`).digest();
    const h = (bytes.readUIntBE(0, 6) + 0.5) / 2 ** 48;
    return { deployment, score: -weight / Math.log(h) };
  });
  return scored.toSorted((a, b) => b.score - a.score).map(({ deployment }) => deployment);
}
