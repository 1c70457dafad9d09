import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Metrics } from "../telemetry/metrics.ts";
import { HttpError } from "../wire/http-error.ts";
import type { App } from "./app.ts";
import type { StaticFiles } from "./static-files.ts";

/** Answers a request for which there is no endpoint: a file of the page, a CORS preflight, 404 or 405. */
export function answerUnknownPath(
  app: App,
  files: StaticFiles | undefined,
  unknown: UnknownPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { method } = request;
  const path = request.url.replace(/\?.*$/s, "");
  const name = path === "/" ? "index.html" : path.slice(1);
  if (method === "OPTIONS") {
    reply.hijack().raw.writeHead(204).end();
  } else if ((method === "GET" || method === "HEAD") && files?.has(name)) {
    files.send(name, reply.hijack().raw);
  } else {
    if (path === "/v1/responses/compact") {
      const hint =
        "send the conversation itself: Joust passes it to models of all providers, and only OpenAI can read its own compacted form";
      unknown.count("other_api", method, path, hint);
      throw new HttpError(400, `${path} is not supported`, { hint, code: "not_supported" });
    }
    const allowed = ["GET", "POST"].filter((other) => has(app, other, path));
    if (allowed.length > 0) {
      reply.raw.setHeader("allow", allowed.join(", ").replace("GET", "GET, HEAD"));
      const hint = `use ${allowed.join(" or ")}`;
      unknown.count("method", method, path, hint);
      throw new HttpError(405, `${path} does not support ${method}`, {
        hint,
        code: "method_not_allowed",
      });
    }
    const { kind, hint } = hintFor(app, method, path);
    if (path === "/" && files === undefined) throw pageNotBuilt();
    unknown.count(kind, method, path, hint);
    throw new HttpError(404, `there is no ${method} ${path}`, { hint, code: "not_found" });
  }
}

function pageNotBuilt(): HttpError {
  return new HttpError(404, "the page is not built, so this gateway serves its API only", {
    hint: 'run "npm ci" in the checkout, which installs the development dependencies and builds the page, then start joust again; /openapi.json lists all endpoints',
    code: "page_not_built",
  });
}

type UnknownKind = "base_url" | "method" | "other_api" | "other";

/**
 * Counts requests to unknown paths, which show clients with a wrong address. Each path is logged once, and only so
 * many, because anybody can invent paths.
 */
export class UnknownPaths {
  readonly #metrics: Pick<Metrics, "unknownPaths">;
  readonly #logger: Logger;
  readonly #logged = new Set<string>();

  constructor(metrics: Pick<Metrics, "unknownPaths">, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  count(kind: UnknownKind, method: string, path: string, hint: string): void {
    this.#metrics.unknownPaths.inc({ kind });
    const shown = path.slice(0, LONGEST_PATH);
    const key = `${method} ${shown}`;
    if (this.#logged.has(key) || this.#logged.size >= MAX_LOGGED) return;
    this.#logged.add(key);
    this.#logger.warn({ method, path: shown, hint }, "unknown path");
  }
}

const LONGEST_PATH = 200;
const MAX_LOGGED = 100;

/** Hint for clients that are configured for another gateway, another address or another API. */
function hintFor(app: App, method: string, path: string): { kind: UnknownKind; hint: string } {
  if (has(app, method, `/v1${path}`)) {
    return { kind: "base_url", hint: `use /v1${path}: the client's base URL must end in /v1` };
  }
  const shorter = path.slice("/v1".length);
  if (path.startsWith("/v1/v1/") && has(app, method, shorter)) {
    const hint = `use ${shorter}: the base URL of this client must not contain /v1`;
    return { kind: "base_url", hint };
  }
  const other = OTHER_APIS.find(([pattern]) => pattern.test(path));
  return other
    ? { kind: "other_api", hint: other[1] }
    : { kind: "other", hint: "/openapi.json lists all endpoints" };
}

/** Paths of other APIs that clients try, with what to do instead. */
const OTHER_APIS: readonly (readonly [RegExp, string])[] = [
  [
    /^\/api\/(chat|generate|tags|show|embed|ps|version)/,
    "this is Ollama's API: choose the client's OpenAI mode, with a base URL that ends in /v1",
  ],
  [
    /^\/v1(beta)?\/models\/.*:|^\/v1beta\//,
    "this is Gemini's API: choose the client's OpenAI mode, with a base URL that ends in /v1",
  ],
  [
    /\/openai\/(deployments|responses|v1)/,
    "this is Azure's API: choose the client's OpenAI mode, with a base URL that ends in /v1",
  ],
  [/^\/model\/.*\/(invoke|converse)/, "this is Bedrock's API: use a client of OpenAI or Anthropic"],
  [
    /^(\/v1)?\/(images|audio|files|uploads|batches|assistants|threads|vector_stores|fine_tuning|moderations|realtime|videos|rerank)\b/,
    "Joust answers conversations, completions and embeddings: call the provider itself for this endpoint",
  ],
];

function has(app: App, method: string, path: string): boolean {
  return app.findRoute({ method, url: path }) !== null;
}
