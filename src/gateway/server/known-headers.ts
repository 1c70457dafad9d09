import type { IncomingHttpHeaders } from "node:http";
import { didYouMean } from "../../core/input/nearest.ts";
import { CSRF_HEADER } from "../access/sign-ins.ts";
import { HEADERS } from "../dialects/options.ts";
import { HttpError } from "../wire/http-error.ts";

/** Header with a vote token, which replaces the API key. */
export const TOKEN_HEADER = "x-joust-vote-token";

const KNOWN: readonly string[] = [...Object.values(HEADERS), TOKEN_HEADER, CSRF_HEADER];
const PREFIX = "x-joust-";

/**
 * Throws 400 if a request has a header whose name begins like those of Joust but is none of them.
 * A misspelt header would otherwise be ignored without anybody noticing.
 */
export function checkHeaders(headers: IncomingHttpHeaders): void {
  for (const name in headers) {
    if (!name.startsWith(PREFIX) || KNOWN.includes(name)) continue;
    const shown = name.slice(0, 64);
    throw new HttpError(400, `there is no header ${shown}`, {
      hint: `${didYouMean(shown, KNOWN)}known headers: ${KNOWN.join(", ")}`,
      code: "unknown_header",
      param: shown,
    });
  }
}
