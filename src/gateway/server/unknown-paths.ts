import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpError } from "../errors/http-error.ts";
import type { App } from "./app.ts";
import type { StaticFiles } from "./static-files.ts";

/** Answers a request for which there is no endpoint: a file of the page, a CORS preflight, 404 or 405. */
export function answerUnknownPath(
  app: App,
  files: StaticFiles | undefined,
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
    const allowed = ["GET", "POST"].filter((other) => has(app, other, path));
    if (allowed.length === 0) throw notFound(app, method, path);
    reply.raw.setHeader("allow", allowed.join(", ").replace("GET", "GET, HEAD"));
    throw new HttpError(405, `${path} does not support ${method}`, {
      hint: `use ${allowed.join(" or ")}`,
      code: "method_not_allowed",
    });
  }
}

function notFound(app: App, method: string, path: string): HttpError {
  const hint = hintFor(app, method, path);
  return new HttpError(404, `there is no ${method} ${path}`, { hint, code: "not_found" });
}

/** Where clients look that were configured for another gateway or dialect. */
function hintFor(app: App, method: string, path: string): string {
  if (has(app, method, `/v1${path}`)) {
    return `use /v1${path}: the client's base URL must end in /v1`;
  }
  return path === "/v1/responses" || path === "/v1/messages"
    ? "use /v1/chat/completions, in the form of OpenAI's chat completions"
    : "/openapi.json lists all endpoints";
}

function has(app: App, method: string, path: string): boolean {
  return app.findRoute({ method, url: path }) !== null;
}
