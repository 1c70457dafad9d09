import { codeOf } from "../../core/input/system-error.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";

/** Failures of a model in an evaluation. They decide whether a failed call is repeated, and whether the model is called. */
export class ModelFailures {
  /** Calls that failed after all retries. */
  count = 0;
  /** Calls that failed after all retries since the last answer. */
  inRow = 0;
  /** Calls that were left out because the model had failed too often. */
  leftOut = 0;
  /** Message of the last failure. */
  reason = "";
  /** Last error of the model itself, not of its circuit breaker. */
  #error: UpstreamError | undefined;
  /** Time of the first error since the last answer. */
  #failingSince: number | undefined;
  /** Number of the latest request that was answered. */
  #answered = 0;

  /** Whether the model has failed so often that it is not called any more. */
  get hasGivenUp(): boolean {
    return this.inRow >= GIVE_UP;
  }

  /** Records an answer to a request. Requests are numbered in the order in which they are sent. */
  answered(request: number): void {
    this.inRow = 0;
    this.#failingSince = undefined;
    this.#answered = Math.max(this.#answered, request);
  }

  /** Records an error of a request. Returns the model's own error, if this one is that of its circuit breaker. */
  erred(error: UpstreamError, now: number): UpstreamError {
    this.#failingSince ??= now;
    if (error.code !== "circuit_open" || !this.#error) this.#error = error;
    return this.#error;
  }

  /** Records that a call is given up. */
  failed(reason: string): void {
    this.count++;
    this.inRow++;
    this.reason = reason;
  }

  /**
   * Whether an error shows an outage of the model or a limit of its rate, which a call waits for. Otherwise the error
   * may be about the prompt, or waiting may cost money. A request that was sent after number `before` and was
   * answered shows that there is no outage.
   */
  isOutage(error: UpstreamError, own: UpstreamError, before: number, now: number): boolean {
    if (now - (this.#failingSince ?? now) > PATIENCE_MS) return false;
    if (isRateLimit(own) || error.code === "circuit_open") return true;
    return isUnpaid(error) && this.#answered <= before;
  }
}

/** Number of failures in a row after which a model is not called any more. */
const GIVE_UP = 5;
/** Time that calls wait for an outage or for a limit of the rate before it counts as a failure. */
export const PATIENCE_MS = 120_000;

/** Whether a model refused a call because it gets too many, by its own limit or that of the configuration. */
function isRateLimit({ code, status, retryable }: UpstreamError): boolean {
  return code === "limited" || (status === 429 && retryable);
}

/** Whether the same call may succeed later. */
export function mayPass(error: UpstreamError): boolean {
  return error.retryable || error.code === "limited" || error.code === "circuit_open";
}

/** Whether a call failed before the model has read it. After any other failure it may have been charged. */
export function isUnpaid({ code, cause }: UpstreamError): boolean {
  return REFUSED.has(code) || UNCONNECTED.has(codeOf(cause));
}

const REFUSED: ReadonlySet<string> = new Set(["status", "limited", "circuit_open", "request"]);
/** Codes of system errors while a connection is opened. */
const UNCONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);
