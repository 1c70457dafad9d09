import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpError } from "../wire/http-error.ts";
import type { App } from "./app.ts";

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

/** Hint for clients whose base URL lacks /v1, or has it although the client adds it. */
function hintFor(app: App, method: string, path: string): string {
  if (has(app, method, `/v1${path}`)) {
    return `use /v1${path}: the client's base URL must end in /v1`;
  }
  const shorter = path.slice("/v1".length);
  if (path.startsWith("/v1/v1/") && has(app, method, shorter)) {
    return `use ${shorter}: the base URL of this client must not contain /v1`;
  }
  return "/openapi.json lists all endpoints";
}

function has(app: App, method: string, path: string): boolean {
  return app.findRoute({ method, url: path }) !== null;
}

/** Files of the page, in memory. The path of a request is never used to open a file. */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, File>;

  private constructor(files: ReadonlyMap<string, File>) {
    this.#files = files;
  }

  /** Reads a folder. Undefined if the page was not built. */
  static async read(folder: string): Promise<StaticFiles | undefined> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = new Map<string, File>();
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const name = file.slice(folder.length).replaceAll("\\", "/").replace(/^\/+/, "");
      const body = await readFile(file);
      const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
      files.set(name, { body, etag, type: TYPES[extname(name)] ?? "application/octet-stream" });
    }
    return files.has("index.html") ? new StaticFiles(files) : undefined;
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  send(name: string, response: ServerResponse): void {
    const { body, etag, type } = this.#files.get(name)!;
    const isSame = response.req.headers["if-none-match"] === etag;
    response.writeHead(isSame ? 304 : 200, {
      ...SECURITY,
      etag,
      // Names of built files contain a hash of their content.
      "cache-control": name.startsWith("assets/")
        ? "public, max-age=31536000, immutable"
        : "no-cache",
      ...(!isSame && { "content-type": type, "content-length": body.length }),
    });
    response.end(isSame ? undefined : body);
  }
}

interface File {
  readonly body: Buffer;
  readonly etag: string;
  readonly type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** Allows only content from this server, so that text written by models cannot run or load anything. */
const SECURITY = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};
