import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { DIALECTS, type DialectName } from "./wire/dialect-names.ts";

/** Endpoint of each dialect at the gateway. */
export const PATHS: Readonly<Record<DialectName, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};

export const MESSAGES = [{ role: "user", content: "Hi" }];
/** The shortest request of each dialect, without its model. */
export const REQUESTS: Readonly<Record<DialectName, object>> = {
  chat: { messages: MESSAGES },
  responses: { input: "Hi" },
  messages: { messages: MESSAGES, max_tokens: 100 },
};

/** A request as the upstream received it. */
interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // The type is any, because a test that expects the wrong shape fails anyway.
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface DialectUpstream {
  /** Configuration of providers and models, one for each dialect: `chat-model`, and so on. */
  readonly yaml: string;
  readonly received: ReceivedRequest[];
  /** Answers a request. Tests replace this function. */
  answer: (
    request: ReceivedRequest,
    dialect: DialectName,
  ) => UpstreamReply | Promise<UpstreamReply>;
}

interface UpstreamReply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** A JSON answer, or the events of a stream. */
  readonly body: object | readonly object[] | string;
  /** Whether the connection breaks off after the body. */
  readonly breaks?: boolean;
}

/** An upstream on loopback that speaks all three dialects, each under a path of its own. */
export async function startDialectUpstream(): Promise<DialectUpstream> {
  const host: DialectUpstream = {
    yaml: "",
    received: [],
    answer: () => ({ status: 500, body: {} }),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url!;
    const text = Buffer.concat(chunks).toString();
    const got = { path, headers: request.headers, body: text === "" ? {} : JSON.parse(text) };
    host.received.push(got);
    const dialect = path.split("/")[1] as DialectName;
    const { status = 200, headers, body, breaks } = await host.answer(got, dialect);
    const isStream = Array.isArray(body) || typeof body === "string";
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(status, { "content-type": type, ...headers });
    const bytes = isStream
      ? typeof body === "string"
        ? body
        : (body as object[]).map((event) => sse(dialect, event)).join("")
      : JSON.stringify(body);
    response.write(bytes, () => (breaks ? response.destroy() : response.end()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const url = (dialect: DialectName) => `http://127.0.0.1:${port}/${dialect}`;
  const providers = DIALECTS.map(
    (name) =>
      `  ${name}-provider: {url: "${url(name)}/v1", dialects: {${name}: "${url(name)}${PATHS[name]}"}}`,
  );
  const models = DIALECTS.map(
    (name) =>
      `  ${name}-model: {provider: ${name}-provider, model: up-${name}, retries: 0, price: {input: 1, output: 2}}`,
  );
  return Object.assign(host, {
    yaml: ["providers:", ...providers, "models:", ...models, ""].join("\n"),
  });
}

function sse(dialect: DialectName, event: object): string {
  const data = `data: ${JSON.stringify(event)}\n\n`;
  return dialect === "chat" ? data : `event: ${(event as { type: string }).type}\n${data}`;
}
