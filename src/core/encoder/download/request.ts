/** Sends requests of a download. */
import type { Dispatcher } from "undici";
import { InputError } from "../../input/input-error.ts";
import { connectionError, type RetryOptions } from "../common/retry.ts";

export interface Client extends RetryOptions {
  /** Token to send to the server, for example HF_TOKEN for private and gated repositories. */
  readonly token?: string | undefined;
  /** Milliseconds without data after which a request fails. */
  readonly idleTimeout?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export const IDLE_TIMEOUT = 30_000;

/** Sends a request. Connection failures are transient. */
export async function request(
  { token, fetch: given, signal }: Client,
  url: string,
  headers: Readonly<Record<string, string>>,
  idle: AbortSignal,
): Promise<Response> {
  const send = given ?? (await safeFetch());
  return awaitServer(url, () =>
    send(url, {
      // fetch omits the token when a redirect leads to another host.
      headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
      signal: signal ? AbortSignal.any([idle, signal]) : idle,
    }),
  );
}

/**
 * Loads the fetch of the package undici, with an agent of its own: without one it may use that
 * of Node's fetch. Node 24.21's own fetch ends the process with an AssertionError if a server
 * closes the connection while received data waits for the disk (nodejs/undici#5360).
 */
async function safeFetch(): Promise<typeof fetch> {
  const undici = await import("undici");
  agent ??= new undici.EnvHttpProxyAgent();
  const own = (url: string, init: object) => undici.fetch(url, { ...init, dispatcher: agent! });
  return own as unknown as typeof fetch;
}

/** Follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Shared by all downloads. */
let agent: Dispatcher | undefined;

/** Waits for the server. Connection failures become transient failures. */
export async function awaitServer<T>(url: string, wait: () => Promise<T>): Promise<T> {
  try {
    return await wait();
  } catch (error) {
    throw connectionError(error, (problem) => {
      const hint = "check the connection and run the same command again: the download resumes";
      return new InputError({ file: new URL(url).host }, problem, hint);
    });
  }
}
