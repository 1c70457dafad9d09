import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { AnswerHeaders } from "../providers/upstream.ts";

/** The client of one request: what is written to it, and whether it is still there. */
export class Client {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  readonly #headers: Readonly<Record<string, string>>;
  #status = 0;
  /** Of the decision that the answer is of, once there is one. */
  decision: string | undefined;

  /** `headers` go with every answer. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    this.#headers = headers;
    response.once("close", () => {
      if (!response.writableFinished) this.#gone.abort();
    });
  }

  /** Fires when the client goes away before its answer is complete. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Of the answer; 499 where the client did not wait for it. */
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

  /** Resolves when there is room for more. A client that has gone takes anything. */
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
  // Proxies such as nginx would collect the events otherwise.
  "x-accel-buffering": "no",
};

const PASSED = /^(x-request-id|request-id|openai-|anthropic-|x-ratelimit-)/;

/** Those headers of an upstream's answer that mean something to its client. */
export function passedHeaders(headers: AnswerHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = PASSED.test(name) ? headers[name] : undefined;
    if (value !== undefined) passed[name] = typeof value === "string" ? value : value.join(", ");
  }
  return passed;
}

/** US dollars in a header: no exponent. */
export function dollars(cost: number): string {
  return cost.toFixed(10).replace(/\.?0+$/, "");
}
