import { InputError } from "../../core/input/input-error.ts";
import { StoreUnavailable, VoteRefused } from "../../store/store-error.ts";
import { JsonError } from "../json-scan.ts";
import { UpstreamError } from "../providers/error.ts";

/** A refusal of ours, in the terms of OpenAI's errors. The message says the remedy. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string | null;
  readonly param: string | null;
  /** Seconds after which it is worth to try again. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, details: HttpErrorDetails = {}) {
    super(message);
    this.status = status;
    this.type = details.type ?? typeOf(status);
    this.code = details.code ?? null;
    this.param = details.param ?? null;
    this.retryAfter = details.retryAfter;
  }
}

interface HttpErrorDetails {
  readonly type?: ErrorType;
  readonly code?: string;
  readonly param?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** OpenAI's own words. */
type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "rate_limit_error"
  | "insufficient_quota"
  | "server_error";

function typeOf(status: number): ErrorType {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** An error as the client gets it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Our own fault, to be looked into: the client is told nothing of it. */
  readonly isOurs: boolean;
}

/** The one place where errors become HTTP. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof UpstreamError) {
    const { retryAfter, clientStatus: status } = error;
    const wait = retryAfter === undefined ? undefined : retryAfter / 1000;
    return { status, headers: headersOf(wait), body: error.toJson(), isOurs: false };
  }
  const { status, message, type, code, param, retryAfter } = asHttpError(error);
  const body = JSON.stringify({ error: { message, type, param, code } });
  const headers = headersOf(retryAfter);
  // What is still being sent is not read.
  if (status === 413) headers.connection = "close";
  // A budget that is used up is so for days: OpenAI's clients need not try twice more.
  if (type === "insufficient_quota") headers["x-should-retry"] = "false";
  return { status, headers, body, isOurs: status === 500 };
}

function headersOf(retryAfter: number | undefined): Record<string, string> {
  return retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) };
}

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof JsonError) {
    return new HttpError(400, `${error.message}; help: send a JSON object`, { code: "bad_json" });
  }
  if (error instanceof StoreUnavailable) {
    const { message, retryAfter } = error;
    return new HttpError(503, message, { code: "store_unavailable", retryAfter });
  }
  if (error instanceof VoteRefused) {
    const { reason, message } = error;
    // Who asks about another's decision must not learn that there is one.
    if (reason === "unknown" || reason === "foreign") return noDecision();
    return new HttpError(reason === "changed" ? 409 : 400, message, { code: `vote_${reason}` });
  }
  if (error instanceof InputError) return new HttpError(400, error.message);
  if (error instanceof URIError) {
    return new HttpError(400, "the path has broken escapes; help: % is written %25", {
      code: "bad_request",
    });
  }
  return new HttpError(500, OURS, { code: "internal_error" });
}

export function noDecision(): HttpError {
  const message = "there is no such decision; help: use the id that came with the answer";
  return new HttpError(404, message, { code: "decision_not_found", param: "id" });
}

const OURS = "something went wrong here; help: the gateway's log says what, as an error";
