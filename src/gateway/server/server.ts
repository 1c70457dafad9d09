import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { parse } from "node:querystring";
import { checkOrigin } from "../access/origin.ts";
import { HttpError } from "../errors/http-error.ts";
import { Client } from "../wire/client.ts";
import { skipBody } from "./body.ts";
import { corsHeaders } from "./cors.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Handler, handler } from "./handler.ts";
import { errorAnswer } from "./http-error.ts";
import type { ServerParts } from "./parts.ts";
import { Routes } from "./routes.ts";
import type { StaticFiles } from "./static-files.ts";

/** The HTTP of it: sockets, limits, keys, errors. What is answered is the endpoints' business. */
export function createServer(
  gateway: ServerParts,
  endpoints: readonly Endpoint[],
  files: StaticFiles | undefined,
): Server {
  const { body_mb: bodyMb, request_seconds: requestSeconds } = gateway.serving().config.server;
  const limit = Math.floor(bodyMb * 2 ** 20);
  const routes = new Routes<Handler>();
  for (const endpoint of endpoints) {
    routes.add(endpoint.method, endpoint.path, handler(gateway, endpoint, limit));
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { headers } = request;
    // Without a body: Node leaves it out.
    const method = request.method === "HEAD" ? "GET" : request.method!;
    if (method !== "POST") skipBody(request, limit);
    checkRequest(gateway, headers);
    if (method === "OPTIONS") {
      response.writeHead(204, corsHeaders(headers)).end();
      return;
    }
    const url = targetOf(request);
    const end = url.indexOf("?");
    const path = end < 0 ? url : url.slice(0, end);
    const found = routes.find(method, path);
    if (found) {
      const query = end < 0 ? NO_QUERY : parse(url.slice(end + 1));
      found.target(response, { query, params: found.params }).catch((error) => {
        gateway.logger.error({ err: error, path }, "failed");
        response.destroy();
      });
      return;
    }
    const name = path === "/" ? "index.html" : path.slice(1);
    if (method === "GET" && files?.has(name)) files.send(name, response);
    else throw nothingThere(method, path, endpoints);
  };
  const server = createHttpServer(
    {
      // Who sends a request drop by drop is cut off; who has sent it may wait as long as a model takes.
      requestTimeout: requestSeconds * 1000,
      headersTimeout: Math.min(20_000, requestSeconds * 1000),
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      // The last answer on this connection, where no more are taken.
      if (!server.listening) response.shouldKeepAlive = false;
      try {
        answer(request, response);
      } catch (error) {
        const { status, headers, body } = errorAnswer(error);
        new Client(response).send(status, headers, body);
        skipBody(request, limit);
      }
    },
  );
  server.on("clientError", refuseRaw);
  return server;
}

/** From the path on: some name the host before it, as to a proxy, and a server has to take that too. */
function targetOf({ url = "/" }: IncomingMessage): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "") || "/";
}

/** Throws where a request goes no further, whatever it asks for. */
function checkRequest(gateway: ServerParts, headers: IncomingMessage["headers"]): void {
  checkOrigin(headers, gateway.serving().config.server.cors, gateway.access.isOpen);
  if (headers["content-encoding"] !== undefined) {
    throw new HttpError(415, "the body is compressed", { hint: "send it as it is" });
  }
}

function nothingThere(method: string, path: string, endpoints: readonly Endpoint[]): HttpError {
  return new HttpError(404, `there is no ${method} ${path}`, {
    hint: elsewhere(path, endpoints),
    code: "not_found",
  });
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

const NO_QUERY = {};

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
