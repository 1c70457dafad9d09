import { setTimeout } from "node:timers/promises";
import { Random } from "../../random/random.ts";

/** How often and how soon something that failed in passing is tried again. */
export interface RetryOptions {
  readonly attempts?: number | undefined;
  /** For the jitter, without which all who failed together would come back together. */
  readonly random?: Random | undefined;
  readonly sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A failure that may pass. */
export class PassingFailure extends Error {
  override readonly name = "PassingFailure";
  /** What to tell where it does not. */
  override readonly cause: Error;
  /** Milliseconds that the server asks to wait. */
  readonly wait: number | undefined;

  constructor(cause: Error, wait?: number) {
    super(cause.message, { cause });
    this.cause = cause;
    this.wait = wait;
  }
}

/**
 * Calls until it succeeds, fails for good, or has failed `attempts` times in a
 * row; `progressed` begins the count anew. Waits 0.5 s, then twice as long each
 * time up to 8 s, of which the upper half is random, and never less than the
 * server asks for.
 */
export async function withRetries<T>(
  call: (progressed: () => void) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { attempts = 6, random = Random.seeded(process.pid), sleep = wait, signal } = options;
  let failures = 0;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await call(() => {
        failures = 0;
      });
    } catch (error) {
      if (!(error instanceof PassingFailure)) throw error;
      failures++;
      if (failures >= attempts || (error.wait ?? 0) > LONGEST_WAIT) throw error.cause;
      const backOff = Math.min(FIRST_WAIT * 2 ** (failures - 1), LAST_WAIT);
      const jittered = backOff * (0.5 + 0.5 * random.uniform());
      await sleep(Math.max(jittered, error.wait ?? 0), signal);
    }
  }
}

const FIRST_WAIT = 500;
const LAST_WAIT = 8_000;
/** Asked to wait longer than this we say so rather than seem to hang. */
const LONGEST_WAIT = 120_000;

async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal ? { signal } : {});
}

/** Statuses that may pass: time-out, conflict, too many requests, the server's own faults. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Retry-After in milliseconds: seconds, or a date, which is measured by the server's own clock. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = Number(value);
  const delay = Number.isNaN(seconds)
    ? Date.parse(value) - Date.parse(headers.get("date") ?? "")
    : 1000 * seconds;
  return delay >= 0 ? delay : undefined;
}

/**
 * What to throw where a connection failed: `failure` makes the error from what
 * happened, in words. It may pass, but for a name that does not exist. An error
 * of another kind is given back as it is.
 */
export function connectionError(error: unknown, failure: (fault: string) => Error): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === "TimeoutError") return new PassingFailure(failure("did not answer in time"));
  // fetch throws a TypeError with what happened as its cause; without one it is our own fault.
  const { cause } = error;
  if (!(error instanceof TypeError && cause instanceof Error)) return error;
  const code = "code" in cause ? String(cause.code) : cause.message;
  const told = failure(FAULTS[code] ?? `broke the connection (${code})`);
  return code === "ENOTFOUND" ? told : new PassingFailure(told);
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOTFOUND: "cannot be found: this machine is offline, or the address is wrong",
  EAI_AGAIN: "cannot be found: this machine is offline, or its name server is",
  ECONNREFUSED: "refuses connections: nothing runs at that address",
  ENETUNREACH: "cannot be reached: this machine is offline",
  EHOSTUNREACH: "cannot be reached",
  ETIMEDOUT: "did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "did not answer in time",
  UND_ERR_HEADERS_TIMEOUT: "did not answer in time",
  UND_ERR_BODY_TIMEOUT: "did not answer in time",
};
