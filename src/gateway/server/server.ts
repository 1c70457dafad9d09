import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import Fastify from "fastify";
import type { Config } from "../config/config.ts";
import { Client } from "../wire/client.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import type { HttpError } from "../wire/http-error.ts";
import { type AdmissionParts, addAdmission } from "./admission.ts";
import { type App, Bodies, discardBody, type SchemaTypes } from "./app.ts";
import { addBodies, COMPILERS, SMALL_BODY } from "./body.ts";
import {
  Connections,
  connectionLimits,
  descriptorLimit,
  endConnection,
  type Intake,
} from "./connections.ts";
import { errorResponse } from "./error-response.ts";
import { listen } from "./listen.ts";
import { addOpenApi } from "./openapi.ts";

export interface ServerParts extends Omit<AdmissionParts, "isClosing" | "onAdmitted"> {
  readonly config: () => Config["server"];
  readonly version: string;
  /** Number of processes of this machine, which share its memory. */
  readonly processes: number;
  /** Source of the connections. Without it, the server listens by itself. */
  readonly intake?: Intake | undefined;
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
  const { config, logger, intake, processes } = parts;
  const { buffer_mb: buffer, body_mb: body, trusted_proxies: proxies } = config();
  const promptLimit = Math.floor(body * 2 ** 20);
  const { server, connections } = newHttpServer(parts);
  const app: App = Fastify({
    bodyLimit: SMALL_BODY,
    trustProxy: proxies.length > 0 && proxies,
    serverFactory: (handler) => {
      const listener: RequestListener = (request, response) => {
        request.url = pathOf(request.url);
        handler(request, response);
      };
      return server.on("request", connections.guard(listener, refuse));
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADER_BYTES },
    return503OnClosing: false,
    schemaController: COMPILERS,
    clientErrorHandler: (error, socket) => {
      if (connections.canRefuse(socket)) refuseConnection(error, socket);
      else socket.destroy();
    },
    frameworkErrors: (error, request, { raw }) => {
      const { status, headers, body } = errorResponse(error, SMALL_BODY, dialectAt(request.raw));
      new Client(raw).send(status, headers, body);
    },
  }).withTypeProvider<SchemaTypes>();
  app.setErrorHandler((error, request, reply) => {
    const { bodyLimit: limit = SMALL_BODY, url: path } = request.routeOptions;
    const dialect = dialectAt(request.raw);
    const { status, headers, body, isInternal } = errorResponse(error, limit, dialect);
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
  app.decorate("bodies", new Bodies(Math.max(buffer / processes, body) * 2 ** 20));
  addBodies(app, promptLimit);
  const isClosing = () => connections.isClosing;
  const onAdmitted = (response: ServerResponse) => connections.noteAdmitted(response);
  addAdmission(app, { ...parts, isClosing, onAdmitted }, promptLimit);
  await addOpenApi(app, parts.version);
  addRoutes(app);
  await app.ready();
  const ownUrl = intake ? undefined : await listen(server, config());
  if (intake) take(intake, server);
  return {
    get url() {
      return ownUrl ?? intake!.url;
    },
    close: (milliseconds) => connections.drain(milliseconds),
  };
}

/** Serves the connections of an intake. The server itself does not listen. */
function take(intake: Intake, server: Server): void {
  // Node starts to enforce the timeouts of requests when it listens.
  server.emit("listening");
  intake.onConnection((socket) => {
    server.emit("connection", socket);
    socket.resume();
  });
}

const MAX_HEADER_BYTES = 16 * 1024;

function newHttpServer({ config, clock, metrics, intake }: ServerParts) {
  const { request_seconds: requestSeconds, idle_seconds: idleSeconds } = config();
  const server = createServer({
    requestTimeout: requestSeconds * 1000,
    headersTimeout: Math.min(20, requestSeconds) * 1000,
    keepAliveTimeout: idleSeconds * 1000,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: 1000,
  });
  const limits = connectionLimits(config(), descriptorLimit());
  const onChange = (open: number, closedFor?: string) => {
    metrics.connections.set(open);
    if (closedFor) metrics.connectionsClosed.inc({ reason: closedFor });
  };
  const connections = new Connections(server, limits, { now: () => clock.now(), onChange }, intake);
  return { server, connections };
}

/** The dialect of the clients of a path, in whose shape errors are written. */
function dialectAt({ url = "" }: IncomingMessage): DialectName {
  return /^\/v1\/messages(?![^/?])/.test(url) ? "messages" : "chat";
}

/** Answers with an error before anything of the request is read, and ends the connection. */
function refuse(error: HttpError, request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = errorResponse(error, SMALL_BODY, dialectAt(request));
  discardBody(request, SMALL_BODY);
  new Client(response).send(status, { ...headers, connection: "close" }, body);
}

/** Path and query of a request target. In requests for a proxy the host precedes them. */
function pathOf(url = "/"): string {
  if (url.startsWith("/")) return url;
  return `/${url.replace(/^(https?:\/\/[^/?]*|\*)\/?/i, "")}`;
}

/** Responds to bytes that are not an HTTP request, to large headers and to requests that never end. */
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
  endConnection(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
