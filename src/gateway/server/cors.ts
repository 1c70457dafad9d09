import type { IncomingHttpHeaders } from "node:http";

/** The origin has been checked by now. */
export function corsHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined) return NONE;
  return {
    "access-control-allow-origin": origin,
    vary: "origin",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": headers["access-control-request-headers"] ?? "*",
    "access-control-expose-headers": "x-joust-decision-id, x-joust-model, x-joust-cost",
    "access-control-max-age": "600",
  };
}

const NONE = {};
