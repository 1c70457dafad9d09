import type { ErrorFields } from "../api/common.ts";

/** The gateway refused a request or failed to answer it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string | undefined;
  /** Member, parameter or header at fault. */
  readonly param: string | undefined;
  /** The message without the hint. */
  readonly problem: string;
  /** Advice on how to correct the error. */
  readonly hint: string | undefined;
  /** Milliseconds to wait before the next try. */
  readonly retryAfter: number | undefined;

  constructor(status: number, error: Partial<ErrorFields>, retryAfter?: number) {
    const { message: problem = `the gateway responded with status ${status}`, hint } = error;
    super(hint === undefined ? problem : `${problem} (${hint})`);
    this.status = status;
    this.problem = problem;
    this.code = error.code == null ? undefined : String(error.code);
    this.param = error.param ?? undefined;
    this.hint = hint;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    if (this.code === "insufficient_quota") return false;
    return this.status === 429 || this.status >= 500;
  }
}

/** No response: the gateway or the network is down, or a stream ended early. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as
    | { readonly error?: Partial<ErrorFields> }
    | undefined;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError(
    response.status,
    body?.error ?? {},
    Number.isNaN(seconds) ? undefined : 1000 * seconds,
  );
}
