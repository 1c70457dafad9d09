import { setTimeout } from "node:timers/promises";
import { Random } from "../../random/random.ts";

export interface RetryOptions {
  readonly attempts?: number | undefined;
  /** Source of the jitter, which keeps clients that failed together from retrying together. */
  readonly random?: Random | undefined;
  readonly sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A failure that is worth another attempt. */
export class TransientFailure extends Error {
  override readonly name = "TransientFailure";
  /** The error to report if no attempt succeeds. */
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
 * Repeats a call that throws TransientFailure, up to `attempts` times in a row;
 * `progressed` resets the count. The wait is 0.5 s, then doubles up to 8 s. Its
 * upper half is random, and it is never shorter than the server asks for.
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
      if (!(error instanceof TransientFailure)) throw error;
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
/** Longest wait that the server may ask for. If it asks for more, the call fails instead of seeming to hang. */
const LONGEST_WAIT = 120_000;

async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal ? { signal } : {});
}

/** Whether a status is worth another attempt: timeout, conflict, too many requests, server error. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Retry-After in milliseconds. A date is compared with the server's own clock. */
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
 * Returns the error to throw if a connection failed. `failure` makes an error from
 * a description of the problem. All connection failures are transient except an
 * unknown host. Errors of other kinds are returned as they are.
 */
export function connectionError(error: unknown, failure: (problem: string) => Error): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === "TimeoutError") return new TransientFailure(failure("did not answer in time"));
  // fetch wraps connection errors in a TypeError. A TypeError without a cause is a defect of ours.
  const { cause } = error;
  if (!(error instanceof TypeError && cause instanceof Error)) return error;
  const code = "code" in cause ? String(cause.code) : cause.message;
  const failed = failure(PROBLEMS[code] ?? `broke the connection (${code})`);
  return code === "ENOTFOUND" ? failed : new TransientFailure(failed);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOTFOUND: "cannot be found: this machine is offline, or the address is wrong",
  EAI_AGAIN: "cannot be found: this machine or its name server is offline",
  ECONNREFUSED: "refuses connections: no server is running at that address",
  ENETUNREACH: "cannot be reached: this machine is offline",
  EHOSTUNREACH: "cannot be reached",
  ETIMEDOUT: "did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "did not answer in time",
  UND_ERR_HEADERS_TIMEOUT: "did not answer in time",
  UND_ERR_BODY_TIMEOUT: "did not answer in time",
};
