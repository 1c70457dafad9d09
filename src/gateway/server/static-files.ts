import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join } from "node:path";

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
