import { z } from "zod";
import { isRecord } from "../wire/json.ts";

/** The members of a request's body, by name. */
interface Values {
  value(name: string): unknown;
}

/**
 * Whether a text is JSON that fits the schema which the request asks for. A schema that cannot be
 * read does not count against the answer.
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
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value)
      .success;
  } catch {
    return true;
  }
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
