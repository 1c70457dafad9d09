import { Agent, request } from "node:http";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly timeoutMs?: number;
  /**
   * Address of this machine from which the connection comes. If it is set, a new connection is
   * opened.
   */
  readonly from?: string;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and reads the whole response. Rejects if the connection breaks or the time is
 * over. fetch is not used, because it can wait for ever for a server that was killed.
 */
export function send(
  url: string,
  { method = "GET", headers = {}, body, timeoutMs = 20_000, from }: SendOptions = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const place = from === undefined ? { agent } : { agent: false, localAddress: from };
  const sent = request(url, { method, headers, ...place }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => void chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode!, headers: response.headers, text });
    });
  });
  sent.on("error", reject);
  // A response that breaks off ends with "close" only.
  sent.on("close", () => reject(new Error("the connection was closed")));
  const timer = setTimeout(() => {
    reject(new Error(`${method} ${url} took longer than ${timeoutMs} ms`));
    sent.destroy();
  }, timeoutMs);
  sent.end(body);
  return promise.finally(() => clearTimeout(timer));
}

/** Sends JSON. */
export function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return send(url, { method: "POST", headers, body: JSON.stringify(body) });
}
