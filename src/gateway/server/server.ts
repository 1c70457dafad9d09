import Fastify from "fastify";
import type { Config } from "../config/config.ts";
import { Client } from "../wire/client.ts";
import { type AdmissionParts, addAdmission } from "./admission.ts";
import type { App, SchemaTypes } from "./app.ts";
import { addBodies, COMPILERS, SMALL_BODY } from "./body.ts";
import { errorResponse } from "./error-response.ts";
import { drain, listen, MAX_HEADER_BYTES, newHttpServer, refuseConnection } from "./http-server.ts";
import { addOpenApi } from "./openapi.ts";
import { discardBody } from "./read-body.ts";

export interface ServerParts extends AdmissionParts {
  readonly config: () => Config["server"];
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
    serverFactory: (handler) => newHttpServer(requestSeconds, handler),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADER_BYTES },
    return503OnClosing: false,
    schemaController: COMPILERS,
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
  await addOpenApi(app, parts.version);
  addRoutes(app);
  await app.ready();
  return {
    url: await listen(app.server, config()),
    close: (milliseconds) => drain(app.server, milliseconds),
  };
}
