import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Logger } from "pino";
import type { Scope } from "../../api/scopes.ts";
import type { Access, Caller } from "../access/access.ts";
import { secretOf } from "../access/api-key.ts";
import { checkOrigin } from "../access/origin.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import { HttpError } from "../errors/http-error.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { startRequestSpan } from "../telemetry/tracing.ts";
import type { App } from "./app.ts";
import { discardBody } from "./body.ts";

export interface AdmissionParts {
  readonly config: () => Pick<Config["server"], "cors">;
  readonly access: Pick<Access, "admit" | "isOpen" | "limitAnonymous">;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Adds the checks that a request passes before its body is read: host, origin, key, scope, rate. */
export function addAdmission(app: App, parts: AdmissionParts, bodyLimit: number): void {
  const { access, config } = parts;
  app.decorateRequest("caller");
  app.decorateRequest("client");
  app.addHook("onRequest", (request, { raw: response }, done) => {
    const { headers } = request.raw;
    // After the server was closed, this response is the last one on its connection.
    if (!app.server.listening) response.shouldKeepAlive = false;
    if (request.method !== "POST") discardBody(request.raw, bodyLimit);
    checkOrigin(headers, config().cors, access.isOpen);
    if (headers["content-encoding"] !== undefined) {
      throw new HttpError(415, "the body is compressed", { hint: "send it uncompressed" });
    }
    allowOrigin(request, response);
    done();
  });
  app.addHook("onRoute", (route) => {
    const { scope, byToken = false } = route.config ?? {};
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    route.onRequest = [observing(path, parts), admitting(scope, byToken, access)];
  });
}

/** CORS headers. The origin was checked before. */
function allowOrigin({ raw: { headers } }: FastifyRequest, response: FastifyReply["raw"]): void {
  const { origin } = headers;
  if (origin === undefined) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
  response.setHeader("access-control-allow-methods", "GET, POST");
  const requested = headers["access-control-request-headers"] ?? "*";
  response.setHeader("access-control-allow-headers", requested);
  response.setHeader("access-control-expose-headers", EXPOSED);
  response.setHeader("access-control-max-age", "600");
}

const EXPOSED = "x-joust-decision-id, x-joust-model, x-joust-cost";

/** Counts, logs and traces the requests of one route. */
function observing(path: string, { metrics, logger, clock }: AdmissionParts) {
  const counters = new Map<number, { inc(): void }>();
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
    const { method } = request;
    const startedAt = clock.now();
    const span = startRequestSpan(method, path, request.raw.headers);
    reply.raw.once("close", () => {
      // 499: the client disconnected before the response began.
      const status = reply.raw.headersSent ? reply.raw.statusCode : 499;
      const counter = counters.get(status) ?? metrics.requests.labels(path, String(status));
      counters.set(status, counter);
      counter.inc();
      const decision = request.client?.decision;
      const ms = Math.round(100 * (clock.now() - startedAt)) / 100;
      logger.info({ method, path, status, ms, decision }, "request");
      span?.end(status, decision);
    });
    if (span) span.run(done);
    else done();
  };
}

/** Identifies the caller of a request by its API key. */
function admitting(scope: Scope | undefined, byToken: boolean, access: AdmissionParts["access"]) {
  return (request: FastifyRequest, _: FastifyReply, done: HookHandlerDoneFunction) => {
    const { headers } = request.raw;
    request.caller = ANONYMOUS;
    if (scope === undefined) return done();
    if (byToken && !access.isOpen && secretOf(headers) === undefined) {
      access.limitAnonymous(request.ip);
      return done();
    }
    access.admit(headers, scope).then((caller) => {
      request.caller = caller;
      done();
    }, done);
  };
}

/** Caller of a request without an API key, if the gateway has keys or the route needs none. */
export const ANONYMOUS: Caller = { owner: undefined, isAdmin: false };
