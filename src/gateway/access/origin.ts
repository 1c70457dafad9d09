import { isIP } from "node:net";
import { HttpError } from "../errors/http-error.ts";

/**
 * A gateway without keys trusts this machine, and so would any page that is open
 * in a browser on it. Pages of other sites are kept out by their Origin, and
 * those that come by a name of their own for 127.0.0.1 (DNS rebinding) by Host.
 */
export function checkOrigin(
  headers: Readonly<{ origin?: string | undefined; host?: string | undefined }>,
  cors: readonly string[],
  isOpen: boolean,
): void {
  const { origin, host = "" } = headers;
  if (isOpen && !isOwnName(host)) {
    throw new HttpError(
      403,
      `requests for ${host} are not for this gateway: without API keys it serves this machine alone`,
      { hint: "use http://localhost, or make a key", code: "foreign_host" },
    );
  }
  if (origin === undefined || cors.includes(origin)) return;
  if (URL.parse(origin)?.host === host) return;
  throw new HttpError(403, `pages of ${origin} may not call this gateway`, {
    hint: "name it under server.cors in joust.yaml",
    code: "foreign_origin",
  });
}

/** Names for this machine that were asked for already: nearly every request has the same one. */
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
