import type { Usage } from "../../codecs/items/answer.ts";
import { isRecord, type Members, parsed } from "../../wire/json.ts";
import { redacted } from "../../wire/secrets.ts";
import { type ErrorFacts, factsOf } from "./error-facts.ts";
import { type ClassifiedRefusal, classifyRefusal, type Refusal } from "./refusal.ts";

/**
 * Failure of an upstream before or during its answer. There is one class, because callers need
 * to know what to do: retry, call another model, or report the error to the client.
 */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly code: UpstreamFault;
  /** HTTP status of the upstream's response, if there was one. */
  readonly status: number | undefined;
  /** Body of the upstream's error response, if there was one. */
  readonly body: Uint8Array | undefined;
  /** Milliseconds after which the upstream accepts requests again. */
  readonly retryAfter: number | undefined;
  /** Advice to the operator or the client. */
  readonly hint: string | undefined;
  /** Usage that the upstream reported before the answer failed, and before earlier attempts did. */
  lost: readonly Usage[] = [];
  /**
   * Whether nothing shows what the call costs, because the client disconnected after the upstream had got the request
   * and before it answered, or because the answer was too large or cut.
   */
  isAbandoned = false;
  readonly #facts: ErrorFacts | undefined;
  readonly #param: string | undefined;
  #classified: ClassifiedRefusal | undefined;

  constructor(code: UpstreamFault, upstream: string, problem: string, details: ErrorDetails = {}) {
    // Some upstreams repeat the key of the request in their errors.
    super(redacted(`${upstream} ${problem}`), { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.body = details.body && Buffer.from(redacted(Buffer.from(details.body).toString()));
    this.retryAfter = details.retryAfter;
    this.hint = details.hint;
    this.#facts = this.body && details.facts;
    this.#param = details.param;
    this.#classified = this.#classify(undefined);
  }

  /** Reason why the upstream refused the request, if the error has a status. */
  get refusal(): Refusal | undefined {
    return this.#classified?.refusal;
  }

  /** The part of the reason that may be remembered for other requests. */
  get lesson(): Refusal | undefined {
    return this.#classified?.lesson;
  }

  /** Classifies the error again with the request as the upstream received it, which the message may quote. */
  concerns(sent: Uint8Array | undefined): this {
    this.#classified = this.#classify(sent);
    return this;
  }

  #classify(sent: Uint8Array | undefined): ClassifiedRefusal | undefined {
    return this.#facts && this.status !== undefined
      ? classifyRefusal(this.status, this.#facts, sent)
      : undefined;
  }

  /** Whether the same request may succeed in a moment. */
  get retryable(): boolean {
    if (this.refusal?.kind === "quota") return false;
    if (this.code === "status") return RETRIED.has(this.status!) || this.status! >= 500;
    return this.code === "unreachable" || this.code === "timeout" || this.code === "broken";
  }

  /**
   * The cause of the error. A refused key and an unknown model count as the upstream's fault,
   * because the client can do nothing about them.
   */
  get fault(): "upstream" | "request" | "client" {
    if (this.code === "cancelled") return "client";
    if (this.code === "request") return "request";
    if (this.code !== "status" || this.retryable) return "upstream";
    if (this.refusal && this.refusal.kind !== "request") {
      return this.refusal.kind === "quota" ? "upstream" : "request";
    }
    // The client can send a conversation again that the upstream does not keep any more.
    if (this.#facts?.code?.startsWith("thread_")) return "request";
    return this.status! < 400 || OURS.has(this.status!) ? "upstream" : "request";
  }

  /** Whether another model may succeed, also if this one does not support the request. */
  get elsewhere(): boolean {
    if (this.refusal && this.refusal.kind !== "request") return true;
    return this.fault === "upstream" || this.code === "request";
  }

  /** Status of the response to the gateway's client. */
  get clientStatus(): number {
    if (this.code !== "status") return CLIENT_STATUS[this.code];
    if (this.refusal?.kind === "quota") return 502;
    // Some providers refuse the content or a feature with a status about the key or the address.
    if (this.fault === "request" && OURS.has(this.status!)) return 400;
    // The refused key is the gateway's, not the client's, and redirects are not followed.
    return OURS.has(this.status!) || this.status! < 400 ? 502 : this.status!;
  }

  /**
   * The error in OpenAI's format, on one line. An upstream's error about the request is passed on
   * if it has that format; an error of another shape is written in that format, with its body in
   * `upstream`.
   */
  toJson(): string {
    const isRefused = this.fault === "request";
    const own = isRefused && this.body ? Buffer.from(this.body).toString() : "";
    const value = own === "" ? undefined : parsed(own);
    if (isRecord(value) && isRecord(value.error) && typeof value.error.message === "string") {
      // JSON strings contain no raw line breaks, so this removes only white space.
      return own.replace(/[\r\n]+/g, "");
    }
    const { code, param = this.#param ?? null } = this.#facts ?? {};
    const kind = this.refusal && this.refusal.kind !== "request" ? this.refusal.kind : undefined;
    const error = {
      message: this.message,
      type: isRefused ? "invalid_request_error" : "upstream_error",
      param: isRefused ? param : null,
      code: (isRefused ? (code ?? kind) : kind) ?? CODES[this.code],
      ...(this.hint !== undefined && { hint: this.hint }),
      ...(isRefused && value !== undefined && own.length <= MAX_DETAILS && { upstream: value }),
    };
    return JSON.stringify({ error });
  }
}

/** Length of an upstream's body up to which the client gets all of it. */
const MAX_DETAILS = 8192;

export type UpstreamFault =
  /** The response has an error status. */
  | "status"
  /** There was no connection, or it was lost. */
  | "unreachable"
  /** Connecting, or a part of the answer, took too long. */
  | "timeout"
  /** The response is not a valid answer: incomplete JSON, a broken stream, an HTML page. */
  | "broken"
  /** The response is larger than the limit. */
  | "too_large"
  /** All deployments of the model have reached their limits per minute. */
  | "limited"
  /** The circuit breaker is open, because the upstream has failed often. */
  | "circuit_open"
  /** The request cannot be translated to the upstream's API. */
  | "request"
  /** The client has disconnected. */
  | "cancelled";

interface ErrorDetails {
  readonly status?: number;
  readonly body?: Uint8Array;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
  readonly hint?: string | undefined;
  /** Member of the request that is at fault, if the gateway itself has found it. */
  readonly param?: string | undefined;
  /** Facts of an error response, from which its refusal is classified. */
  readonly facts?: ErrorFacts;
}

/** Request Timeout and Too Many Requests. All 5xx are retried as well. */
const RETRIED = new Set([408, 429]);
/** Statuses about the key, the account or the address, which the operator has to correct. */
const OURS = new Set([401, 402, 403, 404, 405, 407]);

const CLIENT_STATUS = {
  unreachable: 502,
  timeout: 504,
  broken: 502,
  too_large: 502,
  limited: 429,
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
  limited: "upstream_limited",
  circuit_open: "upstream_circuit_open",
  request: "unsupported_by_upstream",
  cancelled: "cancelled",
};

/** Names are in lower case. A header that occurs twice is a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Makes the error of a response with an error status. */
export function refusal(
  upstream: string,
  status: number,
  body: Uint8Array,
  headers: AnswerHeaders,
): UpstreamError {
  const text = redacted(Buffer.from(body).toString());
  const facts = factsOf(parsed(text), text);
  const { kind } = classifyRefusal(status, facts, undefined).refusal;
  const hint = kind === "request" || kind === "quota" ? HINTS[status] : undefined;
  // The provider's message about a key may repeat parts of the key, so it is replaced.
  const isQuoted = hint === undefined && facts.message !== "";
  const problem = `answered ${status}${isQuoted ? `: ${facts.message}` : ""}`;
  const retryAfter = retryAfterOf(headers);
  return new UpstreamError("status", upstream, problem, { status, body, retryAfter, hint, facts });
}

/**
 * Makes the error of a response, or of an event of a stream, that contains an error although its
 * HTTP status is good. The error may name another status.
 */
export function errorIn(upstream: string, members: Members): UpstreamError {
  const error = members.value("error");
  const named = isRecord(error) ? [error.code, error.status] : [];
  const status = named
    .map(Number)
    .find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  const isRefusal = isRecord(error) && error.type === "invalid_request_error";
  const body = members.json.subarray(members.open, members.close + 1);
  return refusal(upstream, status ?? (isRefusal ? 400 : 500), body, {});
}

/** Whether an object has an error: an object or a text in its member `error`. Some answers have null there. */
export function hasError(members: Members): boolean {
  const error = members.value("error");
  return typeof error === "string" ? error !== "" : isRecord(error);
}

const HINTS: Readonly<Record<number, string>> = {
  401: "check the key of this provider",
  402: "add credit to the account at the provider",
  403: "check the permissions of this provider's key",
  404: "check the provider's address and the model's name there",
  405: "check the provider's address",
  407: "check the proxy between here and the provider",
};

/** Reads Retry-After, in seconds or as a date, and OpenAI's header in milliseconds. */
function retryAfterOf(headers: AnswerHeaders): number | undefined {
  const header = (name: string) => [headers[name]].flat()[0];
  const exact = Number.parseFloat(header("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const after = header("retry-after");
  if (after === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1000;
  // The date is compared with the upstream's own clock, which may differ from ours.
  const wait = Date.parse(after) - Date.parse(header("date") ?? "");
  return wait >= 0 ? wait : undefined;
}
