import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { HttpError } from "../wire/http-error.ts";

/**
 * Refuses requests of web pages from other sites. A gateway without keys trusts this machine,
 * where any page that is open in a browser could call it. The check of Origin stops pages of
 * other sites, the check of Host those that resolve their own name to 127.0.0.1 (DNS
 * rebinding). Browsers send no Origin with the requests of images and frames, so Sec-Fetch-Site is
 * checked there; a link to the gateway still opens. Requests through a proxy only seem to come
 * from this machine, so they are refused too.
 */
export function checkOrigin(
  request: Pick<IncomingMessage, "headers" | "httpVersion">,
  cors: readonly string[],
  isOpen: boolean,
): void {
  const { headers } = request;
  const { origin, host = "" } = headers;
  if (isOpen && !isOwnName(host)) {
    throw new HttpError(
      403,
      `the host ${host} is not this machine, and without API keys the gateway serves only this machine`,
      { hint: "use http://localhost, or create a key", code: "foreign_host" },
    );
  }
  const proxy = isOpen ? signOfProxy(request) : undefined;
  if (proxy !== undefined) {
    throw new HttpError(
      403,
      `the request came through a proxy (${proxy}), and a gateway without API keys serves this machine only`,
      { hint: "create a key with `joust keys add NAME --scopes admin`", code: "forwarded_request" },
    );
  }
  if (origin === undefined && isEmbedded(headers)) {
    throw new HttpError(403, "pages of other sites must not load anything from this gateway", {
      hint: "use fetch, and add the origin of the page to server.cors in joust.yaml",
      code: "foreign_origin",
    });
  }
  if (origin === undefined || cors.includes(origin)) return;
  if (URL.parse(origin)?.host === host) return;
  throw new HttpError(403, `pages of ${origin} must not call this gateway`, {
    hint: "add it to server.cors in joust.yaml",
    code: "foreign_origin",
  });
}

/** Whether a browser sends the request for a page of another origin, and not to open it in a tab. */
function isEmbedded(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": target } = headers;
  if (site !== "cross-site" && site !== "same-site") return false;
  return mode !== "navigate" || target !== "document";
}

/** Headers that proxies add. Behind a proxy, every request seems to come from this machine. */
const FORWARDED: ReadonlySet<string> = new Set([
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
  "x-client-ip",
  "cf-connecting-ip",
  "true-client-ip",
  "fly-client-ip",
]);

/**
 * The part of a request that shows that it came through a proxy. nginx without further settings adds no header and
 * replaces the host, but sends HTTP/1.0, which clients no longer use.
 */
function signOfProxy({
  headers,
  httpVersion,
}: Pick<IncomingMessage, "headers" | "httpVersion">): string | undefined {
  if (httpVersion === "1.0") return "HTTP/1.0";
  for (const name in headers) if (FORWARDED.has(name)) return name;
  return undefined;
}

/** Cache of Host headers that name this machine. Most requests have the same one. */
const OWN_NAMES = new Set<string>();

function isOwnName(host: string): boolean {
  if (OWN_NAMES.has(host)) return true;
  const isOwn = isLoopback(URL.parse(`http://${host}`)?.hostname ?? "");
  if (isOwn && OWN_NAMES.size < 100) OWN_NAMES.add(host);
  return isOwn;
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare === "localhost" || bare.endsWith(".localhost")) return true;
  return isIP(bare) === 4 ? bare.startsWith("127.") : bare === "::1";
}
