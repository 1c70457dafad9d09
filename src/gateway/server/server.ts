import type { Socket } from "node:net";
import Fastify from "fastify";
import type { Config } from "../config/config.ts";
import { Client } from "../wire/client.ts";
import { type AdmissionParts, addAdmission } from "./admission.ts";
import type { App, SchemaTypes } from "./app.ts";
import { addBodies, COMPILERS, discardBody, SMALL_BODY } from "./body.ts";
import { errorResponse } from "./error-response.ts";
import { drain, listen } from "./listen.ts";
import { addOpenApi } from "./openapi.ts";
import type { StaticFiles } from "./static-files.ts";
import { addUnknownPaths } from "./unknown-paths.ts";

export interface ServerParts extends AdmissionParts {
  readonly config: () => Config["server"];
  readonly files: StaticFiles | undefined;
  readonly version: string;
}

export interface HttpServer {
  readonly url: string;
  /** Refuses new requests, waits for the running ones and cuts off those that take longer. */
  close(milliseconds: number): Promise<void>;
}

/** Starts to listen for requests. `addRoutes` adds the endpoints. */
export async function openServer(
  parts: ServerParts,
  addRoutes: (app: App) => void,
): Promise<HttpServer> {
  const { config, logger } = parts;
  const { body_mb: bodyMb, request_seconds: requestSeconds } = config();
  const promptLimit = Math.floor(bodyMb * 2 ** 20);
  const app: App = Fastify({
    bodyLimit: SMALL_BODY,
    // Time in which a client must have sent its request. The response may take longer.
    requestTimeout: requestSeconds * 1000,
    keepAliveTimeout: 75_000,
    http: {
      headersTimeout: Math.min(20_000, requestSeconds * 1000),
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: 1000,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADER_BYTES },
    return503OnClosing: false,
    schemaController: COMPILERS,
    rewriteUrl: pathOf,
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, _, { raw }) => {
      const { status, headers, body } = errorResponse(error, SMALL_BODY);
      new Client(raw).send(status, headers, body);
    },
  }).withTypeProvider<SchemaTypes>();
  app.setErrorHandler((error, request, reply) => {
    const { bodyLimit: limit = SMALL_BODY, url: path } = request.routeOptions;
    const { status, headers, body, isInternal } = errorResponse(error, limit);
    const { client = new Client(reply.raw) } = request;
    const { decision } = client;
    if (isInternal) logger.error({ err: error, path, decision }, "request failed");
    reply.hijack();
    discardBody(request.raw, promptLimit);
    // A response that has begun can only be cut off.
    if (client.hasBegun) return void reply.raw.destroy();
    const id = decision !== undefined && { "x-joust-decision-id": decision };
    client.send(status, { ...headers, ...id }, body);
  });
  addBodies(app, promptLimit);
  addAdmission(app, parts, promptLimit);
  addUnknownPaths(app, parts.files);
  await addOpenApi(app, parts.version);
  addRoutes(app);
  await app.ready();
  return {
    url: await listen(app.server, config()),
    close: (milliseconds) => drain(app.server, milliseconds),
  };
}

const MAX_HEADER_BYTES = 16 * 1024;

/** Path and query of a request. Requests for a proxy name the host before it. */
function pathOf({ url = "/" }: { readonly url?: string | undefined }): string {
  if (url.startsWith("/")) return url;
  return `/${url.replace(/^(https?:\/\/[^/?]*|\*)\/?/i, "")}`;
}

/** Responds to bytes that are no HTTP request, to large headers and to requests that never end. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, message] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ["408 Request Timeout", "the request took too long to arrive"]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? ["431 Request Header Fields Too Large", "the headers are too large"]
        : ["400 Bad Request", "this is not an HTTP request"];
  const body = JSON.stringify({
    error: { message, type: "invalid_request_error", param: null, code: "bad_request" },
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
