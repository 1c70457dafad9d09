import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Upstream } from "./upstream/upstream.ts";

export interface RetrySettings {
  /** Number of further attempts. */
  readonly retries: number;
  /** Longest wait before the first retry; it doubles with every retry, up to `capMs`. */
  readonly baseMs: number;
  readonly capMs: number;
  /** If the upstream asks for a longer wait, it is not retried and another model can answer. */
  readonly maxRetryAfterMs: number;
}

export const RETRIES: RetrySettings = {
  retries: 2,
  baseMs: 250,
  capMs: 4000,
  maxRetryAfterMs: 5000,
};

/** Adds retries to an upstream. A call is only retried before the first byte of its answer. */
export function retrying(
  upstream: Upstream,
  settings: RetrySettings,
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
  { retries, baseMs, capMs, maxRetryAfterMs }: RetrySettings,
  random: Random,
): number | undefined {
  const rest = error.retryAfter ?? 0;
  if (!error.retryable || attempt >= retries || rest > maxRetryAfterMs) return undefined;
  return rest + random.uniform() * Math.min(capMs, baseMs * 2 ** attempt);
}
