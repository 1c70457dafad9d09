import { formatErrorLine } from "../../../core/errors/joust-error.ts";

/**
 * Why an upstream did not answer, or not to the end. One class: callers ask what
 * to do (retry here, ask another model, tell the client), not what it is.
 */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly code: UpstreamFault;
  /** The upstream's own status, and its error as it sent it; where it got that far. */
  readonly status: number | undefined;
  readonly body: Uint8Array | undefined;
  /** Milliseconds for which the upstream asks to be left alone. */
  readonly retryAfter: number | undefined;
  /** What the operator or the client can do about it. */
  readonly hint: string | undefined;

  constructor(code: UpstreamFault, upstream: string, problem: string, details: ErrorDetails = {}) {
    super(`${upstream} ${problem}`, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.body = details.body;
    this.retryAfter = details.retryAfter;
    this.hint = details.hint;
  }

  /** Whether the same request may do better in a moment. */
  get retryable(): boolean {
    if (this.code === "status") return RETRIED.has(this.status!) || this.status! >= 500;
    return this.code === "unreachable" || this.code === "timeout" || this.code === "broken";
  }

  /**
   * Whose fault it is. A refused key and an unknown model are the upstream's, for
   * the client can do nothing about them.
   */
  get fault(): "upstream" | "request" | "client" {
    if (this.code === "cancelled") return "client";
    if (this.code === "request") return "request";
    if (this.code !== "status" || this.retryable) return "upstream";
    return this.status! < 400 || OURS.has(this.status!) ? "upstream" : "request";
  }

  /** Whether another model may do better: also with what this one has no words for. */
  get elsewhere(): boolean {
    return this.fault === "upstream" || this.code === "request";
  }

  /** The status that the gateway's client should see. */
  get clientStatus(): number {
    if (this.code !== "status") return CLIENT_STATUS[this.code];
    // A key that the upstream refuses is the gateway's, not the client's; and no redirect leads to us.
    return OURS.has(this.status!) || this.status! < 400 ? 502 : this.status!;
  }

  /**
   * The error in OpenAI's shape, on one line: the upstream's own where it has the
   * shape and concerns the client, else ours.
   */
  toJson(): string {
    if (this.fault === "request" && this.body) {
      const own = Buffer.from(this.body).toString();
      if (isOpenAiError(own)) return own.replace(/[\r\n]+/g, ""); // blanks: a text has none unescaped
    }
    const type = this.fault === "request" ? "invalid_request_error" : "upstream_error";
    const error = { message: formatErrorLine(this), type, param: null, code: CODES[this.code] };
    return JSON.stringify({ error });
  }
}

export type UpstreamFault =
  /** It answered with a status that is none of success. */
  | "status"
  /** No connection, or it broke. */
  | "unreachable"
  /** It took longer than allowed to connect, to begin, to go on or to finish. */
  | "timeout"
  /** What it sent is no answer: half a JSON, a broken stream, a page of HTML. */
  | "broken"
  /** It sent more than is allowed. */
  | "too_large"
  /** It has failed so often that it is not asked now. */
  | "circuit_open"
  /** The request cannot be put into the upstream's own terms. */
  | "request"
  /** The client has gone. */
  | "cancelled";

interface ErrorDetails {
  readonly status?: number;
  readonly body?: Uint8Array;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
  readonly hint?: string | undefined;
}

/** Request Timeout and Too Many Requests; and all 5xx. */
const RETRIED = new Set([408, 429]);
/** Refused key, no money, no right, no such model or address: what an operator has to mend. */
const OURS = new Set([401, 402, 403, 404, 405, 407]);

const CLIENT_STATUS = {
  unreachable: 502,
  timeout: 504,
  broken: 502,
  too_large: 502,
  circuit_open: 503,
  request: 400,
  cancelled: 499,
};

const CODES: Record<UpstreamFault, string> = {
  status: "upstream_refused",
  unreachable: "upstream_unreachable",
  timeout: "upstream_timeout",
  broken: "upstream_broke_off",
  too_large: "upstream_answer_too_large",
  circuit_open: "upstream_circuit_open",
  request: "unsupported_by_upstream",
  cancelled: "cancelled",
};

function isOpenAiError(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "error" in value;
  } catch {
    return false;
  }
}

/** The last event of a stream that broke off: silence would pass for a finished answer. */
function errorEvent(error: UpstreamError): Uint8Array {
  return Buffer.from(`data: ${error.toJson()}\n\n`);
}

/** A stream that tells of its fault as its last event rather than by throwing. */
export async function* endingInErrorEvent(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    yield errorEvent(error);
  }
}
