import type { FastifyServerOptions } from "fastify";
import type { z } from "zod";
import { checked } from "../wire/http-error.ts";
import { checkFinite } from "../wire/infinite.ts";
import { scanRequest } from "../wire/json.ts";
import type { App } from "./app.ts";

/** Limit in bytes for bodies that hold no prompt, such as votes. */
export const SMALL_BODY = 16 * 1024;

/** Reads bodies as JSON, whatever their content type, and sets the limits of their sizes. */
export function addBodies(app: App, promptLimit: number): void {
  app.addHook("onRoute", (route) => {
    if (route.config?.prompt) route.bodyLimit = promptLimit;
  });
  app.removeAllContentTypeParsers();
  // The validator parses the bytes.
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));
}

/**
 * Compilers for the schemas of routes. Tests check responses against their schemas, so responses
 * are not validated again at run time. Because these compilers are set, fastify does not load its
 * default ones.
 */
export const COMPILERS = {
  compilersFactory: {
    buildValidator: () => validatorOf,
    buildSerializer: () => () => (value: unknown) => JSON.stringify(value),
  },
} as unknown as NonNullable<FastifyServerOptions["schemaController"]>;

function validatorOf({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) {
  return (value: unknown) => {
    try {
      const input = httpPart === "body" ? objectIn(value as Buffer | null) : value;
      return { value: checked(schema, input) };
    } catch (error) {
      return { error: error as Error };
    }
  };
}

/** The JSON object in a body; an empty body is an empty object. */
function objectIn(body: Buffer | null): unknown {
  if (!body || body.length === 0) return {};
  scanRequest(body); // throws unless the body is an object of limited size and depth
  const value: unknown = JSON.parse(body.toString());
  checkFinite(value);
  return value;
}
