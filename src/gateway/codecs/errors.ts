import type { DialectName } from "../wire/dialect-names.ts";
import { isRecord, type Json } from "../wire/json.ts";
import type { AnswerError } from "./items/answer.ts";

/** An error of the gateway, as HttpError has it. */
interface DialectError extends Omit<AnswerError, "code" | "param"> {
  readonly status: number;
  readonly code?: string | null | undefined;
  /** Member or header of the request that is at fault. */
  readonly param?: string | null | undefined;
  /** Details of an error of Anthropic. */
  readonly details?: Json | undefined;
}

/** Body of an error response in the dialect's own shape, with the hint as an additional member. */
export function errorBody(dialect: DialectName, error: DialectError): Json {
  const { status, message, type, param = null, code = null, hint } = error;
  if (dialect !== "messages") {
    return { error: { message, type: type ?? openAiType(status), param, code, hint } };
  }
  // Anthropic's clients read the code in the details.
  const { details = code === null ? undefined : { error_code: code } } = error;
  const fields = { type: anthropicType(status), message, code: code ?? undefined, details, hint };
  return { type: "error", error: fields, request_id: null };
}

function openAiType(status: number): string {
  return OPENAI_TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
}

function anthropicType(status: number): string {
  return ANTHROPIC_TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The body of an error in OpenAI's shape, from the error of any dialect. */
export function openAiError(error: Json): Json {
  const { message, type, param = null, code = type ?? null, details } = error;
  return { error: { message, type, param, code, ...(isRecord(details) && { details }) } };
}

/** HTTP status of an error that comes without one, inside a stream. */
export function statusOfError({ type, code }: Json): number {
  return STATUSES[String(code)] ?? STATUSES[String(type)] ?? 500;
}

const STATUSES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    Object.entries(ANTHROPIC_TYPES).map(([status, type]) => [type, Number(status)]),
  ),
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
};
