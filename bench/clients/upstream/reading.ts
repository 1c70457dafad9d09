import type { ServerResponse } from "node:http";
import { z } from "zod";
import { type Entry, Refused } from "./conversation.ts";

/** Parses a body; throws `Refused` with the place of the first problem. */
export function parseStrictly<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Refused(z.prettifyError(parsed.error));
  return parsed.data;
}

/** The image of a data URL. */
export function imageIn(url: string): Entry {
  const [, type, data] = /^data:(image\/\w+);base64,([A-Za-z0-9+/]+=*)$/.exec(url) ?? [];
  if (type === undefined || data === undefined) {
    throw new Refused(`an image has the URL ${url.slice(0, 60)}`);
  }
  return { kind: "image", type, bytes: Buffer.from(data, "base64") };
}

export function jsonIn(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(`${name} are not JSON: ${text}`);
  }
}

/** Writes a server-sent event, with its type as the name if it has one. */
export function writeEvent(response: ServerResponse, event: object, name?: string): void {
  response.write(
    `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
}
