import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

/** The gateway said no; the message says the remedy. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string | undefined;
  /** Milliseconds after which it may do. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, code?: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may well succeed later. */
  get passes(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** Nobody answered: the gateway is down, or the way to it. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** The API key of who uses the page; a gateway without keys needs none. */
export const apiKey = new Observable<string | undefined>(undefined);
/** Why the gateway wants a key, or another one. */
export const keyProblem = new Observable<string | undefined>(undefined);

/** The key that this browser has kept. */
export function loadApiKey(): void {
  const kept = load(localStorage, "key");
  if (typeof kept === "string") apiKey.set(kept);
}

export function setApiKey(key: string | undefined): void {
  save(localStorage, "key", key);
  apiKey.set(key);
  keyProblem.set(undefined);
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, { signal: signal ?? null })).json() as Promise<T>;
}

export async function postJson<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  return (await post(path, body, signal)).json() as Promise<T>;
}

export function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

export async function request(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (apiKey.value !== undefined) headers.set("authorization", `Bearer ${apiKey.value}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Unreachable("the gateway does not respond", { cause: error });
  }
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  if (refusal.status === 401) keyProblem.set(refusal.message);
  throw refusal;
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string; code?: string | null } }
    | undefined;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError(
    status,
    body?.error?.message ?? `the gateway answered ${status}`,
    body?.error?.code ?? undefined,
    Number.isNaN(seconds) ? undefined : 1000 * seconds,
  );
}
