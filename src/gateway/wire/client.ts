import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** The client of one request: writes the response and notices when the client disconnects. */
export class Client {
  readonly #response: ServerResponse;
  #isGone = false;
  #abort: AbortController | undefined;
  /** Id of the decision about this request, once there is one. */
  decision: string | undefined;

  /** `onClose` is called at the end, with the status of the response. */
  constructor(response: ServerResponse, onClose?: (status: number) => void) {
    this.#response = response;
    response.on("close", () => {
      this.#isGone = !response.writableFinished;
      if (this.#isGone) this.#abort?.abort();
      onClose?.(this.hasBegun ? response.statusCode : CLIENT_CLOSED_REQUEST);
    });
  }

  /** Aborts when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isGone) this.#abort.abort();
    return this.#abort.signal;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  send(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array | string): void {
    if (this.#isGone) return;
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    this.#response.writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      ...headers,
      "content-length": length,
    });
    this.#response.end(body);
  }

  beginStream(headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(200, { ...STREAM, ...headers });
  }

  /**
   * Returns a promise if the socket's buffer is full, which resolves when there is room
   * again. Bytes for a client that has disconnected are dropped.
   */
  write(bytes: Uint8Array | string): Promise<unknown> | undefined {
    if (this.#isGone || this.#response.write(bytes)) return undefined;
    return once(this.#response, "drain", { signal: this.signal }).catch(() => {});
  }

  end(): void {
    this.#response.end();
  }
}

/** Status in log and metrics if the client disconnected before the response began. */
const CLIENT_CLOSED_REQUEST = 499;

const STREAM = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Without this, proxies such as nginx would buffer the events.
  "x-accel-buffering": "no",
};
