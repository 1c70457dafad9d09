import type { z } from "zod";
import { describeIssue } from "../../core/input/describe-issue.ts";

/**
 * An error that the client gets as an HTTP response, in the fields of OpenAI's
 * errors. `message` says what is wrong, `hint` what to do about it.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string | null;
  /** The request's member or header that is at fault. */
  readonly param: string | null;
  readonly hint: string | undefined;
  /** Seconds after which the request is worth another try. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, details: HttpErrorDetails = {}) {
    const { hint, type = typeOf(status), code = null, param = null, retryAfter } = details;
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
    this.param = param;
    this.hint = hint;
    this.retryAfter = retryAfter;
  }
}

interface HttpErrorDetails {
  readonly hint?: string | undefined;
  readonly type?: ErrorType;
  readonly code?: string;
  readonly param?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** Values of `error.type` that OpenAI's clients know. */
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

/**
 * Parses a value by its schema. Throws a 400 that names the invalid member.
 * `at` is the path of the value in the request. `hintFor` may give an issue a
 * hint of its own.
 */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: readonly PropertyKey[] = [],
  hintFor: (issue: z.core.$ZodIssue) => string | undefined = () => undefined,
): z.output<S> {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const { path, issue } = innermost(parsed.error.issues[0]!, at);
  const param = path.map(String).join(".");
  throw new HttpError(400, `${param === "" ? "the request" : param}: ${issue.message}`, {
    hint: hintFor(issue) ?? "/openapi.json lists the allowed values",
    code: "invalid_value",
    param: param === "" ? undefined : param,
  });
}

/** The most specific issue: in a union, the alternative whose issue lies deepest. */
function innermost(
  issue: z.core.$ZodIssue,
  at: readonly PropertyKey[],
): { path: readonly PropertyKey[]; issue: z.core.$ZodIssue } {
  const path = [...at, ...issue.path];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return { path, issue };
  const deepest = issue.errors.flat().reduce((a, b) => (b.path.length > a.path.length ? b : a));
  return deepest.path.length > 0 ? innermost(deepest, path) : { path, issue };
}
