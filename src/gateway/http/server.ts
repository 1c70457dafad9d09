import type { IncomingMessage, ServerResponse } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Caller } from "../access/access.ts";
import { checkOrigin } from "../access/origin.ts";
import { Client } from "../chat/client.ts";
import type { Gateway } from "../gateway.ts";
import { traced } from "../tracing.ts";
import { type Call, type Endpoint, TextAnswer } from "./endpoint.ts";
import { errorAnswer, HttpError } from "./http-error.ts";
import type { StaticFiles } from "./static-files.ts";

/** The HTTP of it: sockets, limits, keys, errors. What is answered is the endpoints' business. */
export function createServer(
  gateway: Gateway,
  endpoints: readonly Endpoint[],
  files: StaticFiles | undefined,
): FastifyInstance {
  const { body_mb: bodyMb, request_seconds: requestSeconds } = gateway.serving.config.server;
  const app = fastify({
    logger: false,
    bodyLimit: Math.floor(bodyMb * 2 ** 20),
    // Who sends a request drop by drop is cut off; who has sent it may wait as long as a model takes.
    requestTimeout: requestSeconds * 1000,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    forceCloseConnections: "idle",
    http: {
      headersTimeout: Math.min(20_000, requestSeconds * 1000),
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1000,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    clientErrorHandler: refuseRaw,
    frameworkErrors: (error, _request, reply) => sendError(reply, error),
  });
  // Bodies stay the bytes they are: who needs JSON parses it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));
  app.setNotFoundHandler((request, reply) => {
    const at = path(request);
    const message = `there is no ${request.method} ${at}; help: ${elsewhere(at, endpoints)}`;
    sendError(reply, new HttpError(404, message, { code: "not_found" }));
  });
  app.addHook("onRequest", (request, reply, next) => {
    const { headers } = request;
    try {
      const { cors } = gateway.serving.config.server;
      checkOrigin(headers, cors, gateway.access.isOpen);
      if (headers["content-encoding"] !== undefined) {
        throw new HttpError(415, "the body is compressed; help: send it as it is");
      }
    } catch (error) {
      return sendError(reply, error);
    }
    if (request.method === "OPTIONS") {
      reply.code(204).headers(corsHeaders(request)).send();
      return;
    }
    next();
  });
  for (const endpoint of endpoints) {
    const url = endpoint.path.replace(/\{(\w+)\}/g, ":$1");
    app.route({ method: endpoint.method, url, handler: handler(gateway, endpoint) });
  }
  if (files) {
    const send = (name: string, reply: FastifyReply) => {
      reply.hijack();
      files.send(name, reply.raw);
    };
    app.get("/", (_request, reply) => send("index.html", reply));
    app.get("/*", (request, reply) => {
      const name = path(request).slice(1);
      if (files.has(name)) send(name, reply);
      else reply.callNotFound();
    });
  }
  return app;
}

function handler(gateway: Gateway, endpoint: Endpoint) {
  const counted = new Map<number, { inc(): void }>();
  const count = (status: number) => {
    const { requests } = gateway.metrics;
    const child = counted.get(status) ?? requests.labels(endpoint.path, String(status));
    counted.set(status, child);
    child.inc();
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<Client> => {
    const startedAt = gateway.clock.now();
    reply.hijack();
    const client = new Client(reply.raw, corsHeaders(request));
    try {
      const caller = endpoint.scope
        ? await gateway.access.admit(request.headers, endpoint.scope)
        : STRANGER;
      const call: Call = {
        gateway,
        caller,
        headers: request.headers,
        address: request.ip,
        body: (request.body as Uint8Array | undefined) ?? EMPTY,
        query: request.query as Call["query"],
        params: request.params as Call["params"],
      };
      const result = await endpoint.handle(call, client);
      if (result instanceof TextAnswer) {
        client.send(200, { "content-type": result.type }, result.text);
      } else if (result !== undefined) client.send(200, {}, JSON.stringify(result));
    } catch (error) {
      fail(gateway, endpoint, client, reply.raw, error);
    }
    count(client.status);
    gateway.logger.info(
      {
        method: endpoint.method,
        path: endpoint.path,
        status: client.status,
        ms: Math.round(100 * (gateway.clock.now() - startedAt)) / 100,
        decision: client.decision,
      },
      "request",
    );
    return client;
  };
  const { method, path: route } = endpoint;
  return (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    traced(method, route, request.headers, () => answer(request, reply));
}

function fail(
  gateway: Gateway,
  { path }: Endpoint,
  client: Client,
  response: ServerResponse,
  error: unknown,
): void {
  const { status, headers, body, isOurs } = errorAnswer(error);
  const { decision } = client;
  if (isOurs) gateway.logger.error({ err: error, path, decision }, "failed");
  // Half an answer cannot be taken back: to break it off is the one way to say so.
  if (client.hasBegun) response.destroy();
  else
    client.send(status, { ...headers, ...(decision && { "x-joust-decision-id": decision }) }, body);
}

/** Where clients look that are set up in one of the usual other ways. */
function elsewhere(path: string, endpoints: readonly Endpoint[]): string {
  if (endpoints.some((endpoint) => endpoint.path === `/v1${path}`)) {
    return `it is at /v1${path}, so let the client's base URL end in /v1`;
  }
  return path === "/v1/responses" || path === "/v1/messages"
    ? "ask at /v1/chat/completions, in the terms of OpenAI's chats"
    : "/openapi.json says what there is";
}

const EMPTY = new Uint8Array();
const STRANGER: Caller = { owner: undefined, isAdmin: false };

function sendError(reply: FastifyReply, error: unknown): void {
  const { status, headers, body } = errorAnswer(error);
  reply.code(status).headers(headers).type("application/json; charset=utf-8").send(body);
}

/** Bytes that are no HTTP, headers that are too large, a request that never ends. */
function refuseRaw(error: Error & { code?: string }, socket: IncomingMessage["socket"]): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, reason] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ["408 Request Timeout", "the request took too long to come"]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? ["431 Request Header Fields Too Large", "the headers are too large"]
        : ["400 Bad Request", "this is no HTTP request"];
  const body = JSON.stringify({
    error: { message: reason, type: "invalid_request_error", param: null, code: "bad_request" },
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** The origin has been checked by now. */
function corsHeaders({ headers }: FastifyRequest): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined) return NO_HEADERS;
  return {
    "access-control-allow-origin": origin,
    vary: "origin",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": headers["access-control-request-headers"] ?? "*",
    "access-control-expose-headers": "x-joust-decision-id, x-joust-model, x-joust-cost",
    "access-control-max-age": "600",
  };
}

const NO_HEADERS = {};

function path({ url }: FastifyRequest): string {
  return url.split("?", 1)[0]!;
}
