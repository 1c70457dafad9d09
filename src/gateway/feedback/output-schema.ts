import { z } from "zod";
import { isRecord } from "../wire/json.ts";
import { checkableSchema } from "./checkable-schema.ts";

/** The members of a request's body, by name. */
interface Values {
  value(name: string): unknown;
}

/**
 * Whether a text is JSON that fits the schema which the request asks for. A schema that cannot be
 * read or is too large does not count against the answer, and neither do the keywords that
 * `checkableSchema` leaves out.
 */
export function fitsSchema(members: Values, text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  const schema = schemaIn(members);
  if (!schema) return true;
  try {
    const checkable = checkableSchema(schema, Math.min(MOST_PARTS, MOST_STEPS / sizeOf(value)));
    return z.fromJSONSchema(checkable as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value)
      .success;
  } catch {
    return true;
  }
}

/** Largest number of parts of a schema that is checked. */
const MOST_PARTS = 2000;
/** Limit of the parts of a schema times the values in an answer, because the check delays other requests. */
const MOST_STEPS = 50_000;

/** Number of values in a JSON value, including itself. */
function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + sizeOf(one), 1);
}

/** The schema of the output in a request of any dialect. */
function schemaIn(members: Values): unknown {
  const chat = members.value("response_format");
  if (isRecord(chat) && isRecord(chat.json_schema)) return chat.json_schema.schema;
  const responses = members.value("text");
  if (isRecord(responses) && isRecord(responses.format)) return responses.format.schema;
  const messages = members.value("output_config") ?? members.value("output_format");
  if (!isRecord(messages)) return undefined;
  return isRecord(messages.format) ? messages.format.schema : messages.schema;
}
