import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** The client of one request: writes the response and notices when the client disconnects. */
export class Client {
  readonly #response: ServerResponse;
  #isGone = false;
  /**
   * Whether the response is a stream of chunks. Clients of HTTP/1.0 get a stream without chunks.
   */
  #isChunked = false;
  #abort: AbortController | undefined;
  #end: (() => void) | undefined;
  /** Id of the decision about this request, once there is one. */
  decision: string | undefined;

  /** `onClose` is called at the end, with the status of the response. */
  constructor(response: ServerResponse, onClose?: (status: number) => void) {
    this.#response = response;
    response.on("close", () => {
      this.#isGone = !response.writableFinished;
      if (this.#isGone) this.#abort?.abort();
      this.#end?.();
      onClose?.(this.hasBegun ? response.statusCode : CLIENT_CLOSED_REQUEST);
    });
  }

  /** Calls a function when the response has ended, or now if it has ended before. */
  endWith(end: () => void): void {
    if (this.#response.closed || this.#response.destroyed) end();
    else this.#end = end;
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
    const list = ["content-length", String(length)];
    if (headers["content-type"] === undefined) list.push("content-type", JSON_TYPE);
    for (const name in headers) list.push(name, headers[name]!);
    this.#response.writeHead(status, list);
    if (typeof body === "string" || length > SMALL) this.#response.end(body);
    else {
      // Node writes headers and a string with one call, which takes less time than a list of buffers.
      const bytes = Buffer.isBuffer(body)
        ? body
        : Buffer.from(body.buffer, body.byteOffset, length);
      this.#response.end(bytes.toString("latin1"), "latin1");
    }
  }

  beginStream(headers: Readonly<Record<string, string>>): void {
    const response = this.#response;
    response.writeHead(200, { ...STREAM, ...headers });
    // Node would write a chunk in three parts. Here it is one.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /**
   * Returns a promise if the socket's buffer is full, which resolves when there is room
   * again. Bytes for a client that has disconnected are dropped.
   */
  write(bytes: Uint8Array | string): Promise<unknown> | undefined {
    if (this.#isGone || bytes.length === 0) return undefined;
    if (this.#response.write(this.#isChunked ? chunkOf(bytes) : bytes)) return undefined;
    return once(this.#response, "drain", { signal: this.signal }).catch(() => {});
  }

  end(): void {
    this.#response.end(this.#isChunked ? LAST_CHUNK : undefined);
  }
}

/** Bytes in the form of HTTP's chunked transfer coding (RFC 9112, 7.1): size, bytes, end of line. */
function chunkOf(bytes: Uint8Array | string): Buffer {
  const length = typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
  const size = `${length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + length + 2);
  chunk.write(size, "latin1");
  if (typeof bytes === "string") chunk.write(bytes, size.length);
  else chunk.set(bytes, size.length);
  chunk.write("\r\n", size.length + length, "latin1");
  return chunk;
}

const LAST_CHUNK = "0\r\n\r\n";

/** Status in log and metrics if the client disconnected before the response began. */
const CLIENT_CLOSED_REQUEST = 499;

/** Largest response, in bytes, that is written together with its headers. */
const SMALL = 8192;

const JSON_TYPE = "application/json; charset=utf-8";

const STREAM = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Without this, proxies such as nginx would buffer the events.
  "x-accel-buffering": "no",
};
