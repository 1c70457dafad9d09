import { InputError } from "../../core/input/input-error.ts";
import { StoreUnavailable, VoteRefused } from "../../store/store-error.ts";
import { errorBody } from "../codecs/errors.ts";
import { errorFields } from "../dialects/upstream-error.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import { HttpError } from "../wire/http-error.ts";
import { JsonError } from "../wire/json.ts";
import { tooLarge } from "./app.ts";

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True for a defect of the gateway: it is logged, and the client gets no details. */
  readonly isInternal: boolean;
}

/**
 * The response for any error, in the shape of the endpoint's dialect. `limit` is the body limit of
 * the endpoint.
 */
export function errorResponse(
  error: unknown,
  limit: number,
  dialect: DialectName = "chat",
): ErrorResponse {
  if (error instanceof UpstreamError) {
    const { retryAfter, clientStatus: status } = error;
    const seconds = retryAfter === undefined ? undefined : retryAfter / 1000;
    const body =
      dialect === "messages"
        ? JSON.stringify(errorBody(dialect, errorFields(error)))
        : error.toJson();
    return { status, headers: headersOf(seconds), body, isInternal: false };
  }
  const { status, message, hint, type, code, param, retryAfter } = asHttpError(error, limit);
  const body = JSON.stringify(errorBody(dialect, { status, message, type, param, code, hint }));
  const headers = headersOf(retryAfter);
  // The rest of the body is not read.
  if (status === 413 || code === "overloaded") headers.connection = "close";
  // A budget is used up until the end of the month, so OpenAI's clients must not retry.
  if (type === "insufficient_quota") headers["x-should-retry"] = "false";
  return { status, headers, body, isInternal: status === 500 };
}

function headersOf(retryAfter: number | undefined): Record<string, string> {
  return retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) };
}

function asHttpError(error: unknown, limit: number): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof JsonError) {
    return new HttpError(400, error.message, { hint: "send a JSON object", code: "bad_json" });
  }
  if (error instanceof StoreUnavailable) {
    const { message, code, hint, retryAfter } = error;
    return new HttpError(503, message, { code, hint, retryAfter });
  }
  if (error instanceof VoteRefused) {
    const { reason, message, code, hint, param } = error;
    // The existence of another key's decision is not revealed.
    if (reason === "unknown" || reason === "foreign") return noDecision();
    return new HttpError(reason === "changed" ? 409 : 400, message, { code, hint, param });
  }
  if (error instanceof InputError) {
    const { file, field, problem, hint } = error;
    return new HttpError(400, `${field ?? file} ${problem}`, {
      hint,
      code: "invalid_value",
      param: field,
    });
  }
  return frameworkError(error as Partial<FrameworkError>, limit);
}

/** Errors that fastify throws have a code and the status for the client. */
interface FrameworkError {
  readonly code: string;
  readonly statusCode: number;
  readonly message: string;
}

function frameworkError(
  { code = "", statusCode = 500, message = "" }: Partial<FrameworkError>,
  limit: number,
): HttpError {
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return tooLarge(limit);
  if (code === "FST_ERR_BAD_URL") {
    return new HttpError(400, "the path contains an invalid escape", {
      hint: "write % as %25",
      code: "bad_request",
    });
  }
  if (statusCode < 500) return new HttpError(statusCode, message, { code: "bad_request" });
  return new HttpError(500, "the gateway failed to handle this request", {
    hint: "the log of the gateway has the error",
    code: "internal_error",
  });
}

export function noDecision(): HttpError {
  return new HttpError(404, "there is no decision with this id", {
    hint: 'use the id of an answer with the API key of its request; only requests that name a router, such as "auto", have a decision, and requests that name a model have none',
    code: "decision_not_found",
    param: "id",
  });
}
