import type { ServerResponse } from "node:http";
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
} from "fastify";
import type { Logger } from "pino";
import type { Access, Caller } from "../access/access.ts";
import { checkOrigin } from "../access/origin.ts";
import { SAFE } from "../access/sign-ins.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import { logRequest } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { startRequestSpan } from "../telemetry/tracing.ts";
import { Client } from "../wire/client.ts";
import { HttpError } from "../wire/http-error.ts";
import { type App, discardBody } from "./app.ts";
import { checkHeaders } from "./known-headers.ts";
import type { StaticFiles } from "./static-files.ts";
import { answerUnknownPath, UnknownPaths } from "./unknown-paths.ts";

export interface AdmissionParts {
  readonly config: () => Pick<Config["server"], "cors">;
  readonly access: Pick<
    Access,
    "admit" | "begin" | "hasCredentials" | "isOpen" | "limitAnonymous" | "refresh"
  >;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: StaticFiles | undefined;
  /** Whether the server accepts no more connections. */
  readonly isClosing: () => boolean;
  /** Called for each request that is admitted with a key, or without one on a gateway that has no keys. */
  readonly onAdmitted: (response: ServerResponse) => void;
}

/** Adds the checks that a request passes before its body is read: host, origin, key, scope, rate. */
export function addAdmission(app: App, parts: AdmissionParts, bodyLimit: number): void {
  const { access, config } = parts;
  const unknown = new UnknownPaths(parts.metrics, parts.logger);
  app.decorateRequest("caller");
  app.decorateRequest("client");
  app.addHook("onRequest", (request, reply, done) => {
    const { headers } = request.raw;
    // After the server was closed, this response is the last one on its connection.
    if (parts.isClosing()) reply.raw.shouldKeepAlive = false;
    // Fastify reads the bodies of the other methods.
    if (request.is404 || SAFE.has(request.method)) discardBody(request.raw, bodyLimit);
    const check = () => {
      checkOrigin(request.raw, config().cors, access.isOpen);
      if (headers["content-encoding"] !== undefined) {
        throw new HttpError(415, "the body is compressed", { hint: "send it uncompressed" });
      }
      allowOrigin(request, reply.raw);
      checkHeaders(headers);
      if (request.is404) answerUnknownPath(app, parts.files, unknown, request, reply);
      else done();
    };
    // Once there is a key, requests from elsewhere are admitted, so a key that was just created has to be known.
    const refreshed = access.isOpen ? access.refresh() : undefined;
    if (refreshed) refreshed.then(check).catch(done);
    else check();
  });
  app.addHook("onRoute", (route) => {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    route.onRequest = admitting(path, route.config ?? {}, parts);
  });
}

/** CORS headers. The origin was checked before. */
function allowOrigin({ raw: { headers } }: FastifyRequest, response: FastifyReply["raw"]): void {
  const { origin } = headers;
  if (origin === undefined) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
  response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
  const requested = headers["access-control-request-headers"] ?? "*";
  response.setHeader("access-control-allow-headers", requested);
  response.setHeader("access-control-expose-headers", EXPOSED);
  response.setHeader("access-control-max-age", "600");
}

const EXPOSED =
  "x-joust-decision-id, x-joust-model, x-joust-cost, x-joust-adapted, x-joust-deployment";

/** Observes the requests of one route and identifies their callers. */
function admitting(
  path: string,
  { scope, byToken = false, byAddress = false, concurrent }: FastifyContextConfig,
  parts: AdmissionParts,
): onRequestHookHandler {
  const { access, metrics, logger, clock } = parts;
  const counters = new Map<number, { inc(): void }>();
  const count = (status: number) => {
    const counter = counters.get(status) ?? metrics.requests.series(path, String(status));
    counters.set(status, counter);
    counter.inc();
  };
  return (request, reply, done) => {
    const { method, raw } = request;
    const startedAt = clock.now();
    const span = startRequestSpan(method, path, raw.headers);
    request.caller = ANONYMOUS;
    const client = new Client(reply.raw, (status) => {
      const { decision } = client;
      count(status);
      const ms = Math.round(100 * (clock.now() - startedAt)) / 100;
      logRequest(logger, { method, path, status, ms, decision });
      span?.end(status, decision);
    });
    request.client = client;
    const proceed = span ? () => span.run(done) : done;
    const isAnonymous = scope === undefined || (byToken && !access.hasCredentials(raw.headers));
    if (isAnonymous && !access.isOpen) {
      const limited = byToken || byAddress ? access.limitAnonymous(request.ip) : undefined;
      return limited ? void limited.then(() => proceed()).catch(done) : proceed();
    }
    if (scope === undefined) return proceed();
    const proceedAs = (caller: Caller): void | Promise<void> => {
      request.caller = caller;
      parts.onAdmitted(reply.raw);
      const begun = concurrent && access.begin(caller, concurrent);
      if (begun instanceof Promise) {
        return begun.then((end) => {
          client.endWith(end);
          proceed();
        });
      }
      if (begun) client.endWith(begun);
      proceed();
    };
    const admitted = access.admit(raw.headers, scope, method);
    if (admitted instanceof Promise) admitted.then(proceedAs).catch(done);
    else proceedAs(admitted)?.catch(done);
  };
}

/** Caller of a request without an API key, if the gateway has keys or the route needs none. */
export const ANONYMOUS: Caller = { owner: undefined, isAdmin: false };
