import { formatErrorLine } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { StoreUnavailable, VoteRefused } from "../../store/store-error.ts";
import { HttpError } from "../errors/http-error.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { JsonError } from "../wire/json-scan.ts";

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
  const known = asHttpError(error);
  const { status, type, code, param, retryAfter } = known;
  // Most clients show only the message, so the hint is part of it.
  const body = JSON.stringify({ error: { message: formatErrorLine(known), type, param, code } });
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
    return new HttpError(400, error.message, { hint: "send a JSON object", code: "bad_json" });
  }
  if (error instanceof StoreUnavailable) {
    const { message, code, hint, retryAfter } = error;
    return new HttpError(503, message, { code, hint, retryAfter });
  }
  if (error instanceof VoteRefused) {
    const { reason, message, code, hint } = error;
    // Who asks about another's decision must not learn that there is one.
    if (reason === "unknown" || reason === "foreign") return noDecision();
    return new HttpError(reason === "changed" ? 409 : 400, message, { code, hint });
  }
  if (error instanceof InputError) return new HttpError(400, error.message, { hint: error.hint });
  if (error instanceof URIError) {
    return new HttpError(400, "the path has broken escapes", {
      hint: "% is written %25",
      code: "bad_request",
    });
  }
  return new HttpError(500, "something went wrong here", {
    hint: "the gateway's log says what, as an error",
    code: "internal_error",
  });
}

export function noDecision(): HttpError {
  return new HttpError(404, "there is no such decision", {
    hint: "use the id that came with the answer",
    code: "decision_not_found",
    param: "id",
  });
}
