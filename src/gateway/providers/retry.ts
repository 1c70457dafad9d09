import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Upstream } from "./upstream/upstream.ts";

export interface RetrySettings {
  /** How often it is tried again; 0: never. */
  readonly retries: number;
  /** The longest first wait; each further one may be twice as long, up to the cap. */
  readonly baseMs: number;
  readonly capMs: number;
  /** An upstream that asks for a longer rest is left to it: another model may answer meanwhile. */
  readonly maxRetryAfterMs: number;
}

export const RETRIES: RetrySettings = {
  retries: 2,
  baseMs: 250,
  capMs: 4000,
  maxRetryAfterMs: 5000,
};

/**
 * Tries again what may do better in a moment. Only ever before the first byte:
 * a call resolves when it is there, and after that nothing is retried.
 */
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
            throw new UpstreamError("cancelled", upstream.name, "is no longer waited for", {
              cause,
            });
          });
        }
      }
    },
  };
}

/**
 * Full jitter, uniform on [0, min(cap, base 2^attempt)): the waits that spread
 * clients best (Brooker 2015, "Exponential backoff and jitter"). After the rest
 * that the upstream asks for, where it does. Undefined: do not.
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
