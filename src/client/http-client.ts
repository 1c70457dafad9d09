import { type ApiError, ConnectionError, errorOf } from "./error.ts";
import { serverEvents } from "./server-events.ts";

export interface JoustClientOptions {
  /** Address of the gateway without `/v1`, for example `http://localhost:8080`. */
  readonly baseUrl: string;
  /** API key, or a function that returns it. The function is called for each request. */
  readonly apiKey?: string | (() => string | undefined) | undefined;
  /** Returns headers that every request has, besides those of its call. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Is called with each error of the gateway before it is thrown. */
  readonly onError?: (error: ApiError) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to a gateway. */
export class HttpClient {
  readonly #options: JoustClientOptions;

  constructor(options: JoustClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, "") };
  }

  protected async get<T>(path: string, query: object, options?: CallOptions): Promise<T> {
    const response = await this.send(withQuery(path, query), {}, options);
    return jsonOf(response, options);
  }

  protected async post<T>(path: string, body: object, options?: CallOptions): Promise<T> {
    return jsonOf(await this.send(path, bodyOf(body), options), options);
  }

  protected async *serverEvents(
    path: string,
    body?: object,
    options: CallOptions = {},
    onOpen?: () => void,
  ) {
    const response = await this.send(path, body ? bodyOf(body) : {}, options);
    onOpen?.();
    try {
      yield* serverEvents(response);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ConnectionError("the gateway closed the connection", { cause: error });
    }
  }

  protected async send(
    path: string,
    init: RequestInit,
    options: CallOptions = {},
  ): Promise<Response> {
    const { baseUrl, apiKey, headers: common, fetch: send = fetch, onError } = this.#options;
    const key = typeof apiKey === "function" ? apiKey() : apiKey;
    const headers = new Headers({
      ...(init.headers as object),
      ...common?.(),
      ...options.headers,
    });
    if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
    const signal = options.signal ?? null;
    const response = await send(`${baseUrl}${path}`, { ...init, headers, signal }).catch(
      (error: unknown) => {
        if (signal?.aborted) throw error;
        const place = baseUrl === "" ? "" : ` at ${baseUrl}`;
        throw new ConnectionError(`the gateway${place} does not respond`, { cause: error });
      },
    );
    if (response.ok) return response;
    const error = await errorOf(response);
    onError?.(error);
    throw error;
  }
}

async function jsonOf<T>(response: Response, { signal }: CallOptions = {}): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConnectionError("the response ended early", { cause: error });
  }
}

function bodyOf(body: object): RequestInit {
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

/** A path with the members of a query that are not undefined. */
export function withQuery(path: string, query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return [path, text.join("&")].filter(Boolean).join("?");
}
