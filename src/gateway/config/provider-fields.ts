import { z } from "zod";

/**
 * Fields of a provider that decide to which host its credentials are sent. Secrets are bound to the origins of the
 * addresses, so nothing else may change the host.
 */

/** A setting that an address may have in its host. A dot would name another host. */
export const LABEL = z
  .string()
  .regex(/^[A-Za-z0-9-]+$/, "has a character other than letters, digits and -");

/** An address. `{model}` and other placeholders are allowed in its path and query only. */
export const HTTP_URL = z
  .url({ protocol: /^https?$/ })
  .refine(hasFixedHost, "has a placeholder in its host: placeholders belong in the path");

function hasFixedHost(address: string): boolean {
  const url = URL.parse(address);
  return !url || !/[{}]|%7[bd]/i.test(`${url.username}:${url.password}@${url.host}`);
}

/** HTTP headers for each request to a provider. */
export const HEADERS = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    const message = problemOf(name, value);
    if (message) context.addIssue({ code: "custom", path: [name], message });
  }
});

function problemOf(name: string, value: string): string | undefined {
  if (OWN_HEADERS.has(name.toLowerCase())) {
    return "is a header that the gateway writes itself: remove it";
  }
  if (!HEADER_NAME.test(name)) return "is not the name of a header: use letters, digits and -";
  return HEADER_VALUE.test(value)
    ? undefined
    : "has a character that a header cannot have, such as a line break";
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that name the host, or that describe the connection and the length of the body. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade"],
  ...["te", "trailer", "expect", "proxy-connection", "proxy-authorization", "http2-settings"],
]);
