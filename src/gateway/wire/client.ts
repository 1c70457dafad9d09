import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** The client of one request: writes the response and notices when the client disconnects. */
export class Client {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  readonly #headers: Readonly<Record<string, string>>;
  #status = 0;
  /** Id of the decision about this request, once there is one. */
  decision: string | undefined;

  /** `headers` are part of every response. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    this.#headers = headers;
    response.once("close", () => {
      if (!response.writableFinished) this.#gone.abort();
    });
  }

  /** Aborts when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Status of the response; 499 if the client disconnected before it began. */
  get status(): number {
    return this.#gone.signal.aborted && !this.hasBegun ? 499 : this.#status;
  }

  send(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array | string): void {
    if (this.#gone.signal.aborted) return;
    this.#status = status;
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    this.#response.writeHead(status, {
      ...this.#headers,
      "content-type": "application/json; charset=utf-8",
      ...headers,
      "content-length": length,
    });
    this.#response.end(body);
  }

  beginStream(headers: Readonly<Record<string, string>>): void {
    this.#status = 200;
    this.#response.writeHead(200, { ...this.#headers, ...STREAM, ...headers });
  }

  /**
   * Returns a promise if the socket's buffer is full, which resolves when there is room
   * again. Bytes for a client that has disconnected are dropped.
   */
  write(bytes: Uint8Array | string): Promise<unknown> | undefined {
    if (this.#gone.signal.aborted || this.#response.write(bytes)) return undefined;
    return once(this.#response, "drain", { signal: this.#gone.signal }).catch(() => {});
  }

  end(): void {
    this.#response.end();
  }
}

const STREAM = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Without this, proxies such as nginx would buffer the events.
  "x-accel-buffering": "no",
};
