import { isRecord, LARGE_BODY, type Members } from "../wire/json.ts";
import { fitsWithin } from "./schema-check.ts";

/** The members of a request's body, by name. */
type Values = Pick<Members, "value" | "find">;

/**
 * Whether a text is JSON that fits the schema which the request asks for. A schema that cannot be
 * read or takes too long does not count against the answer, and neither do the keywords that
 * `fitsWithin` leaves out.
 */
export function fitsSchema(members: Values, text: string): boolean {
  if (text.length > LARGE_BODY) return true;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  const schema = schemaIn(members);
  if (!schema) return true;
  try {
    return fitsWithin(MOST_STEPS, schema, value);
  } catch {
    return true;
  }
}

/** Limit of the steps of a check, which delays other requests. So many steps take a few milliseconds. */
const MOST_STEPS = 50_000;

/** The schema of the output in a request of any dialect. */
function schemaIn(members: Values): unknown {
  const read = (name: string) => {
    const member = members.find(name);
    const isLarge = member && member.valueEnd - member.valueStart > LARGE_BODY;
    return member && !isLarge ? members.value(name) : undefined;
  };
  const chat = read("response_format");
  if (isRecord(chat) && isRecord(chat.json_schema)) return chat.json_schema.schema;
  const responses = read("text");
  if (isRecord(responses) && isRecord(responses.format)) return responses.format.schema;
  const messages = read("output_config") ?? read("output_format");
  if (!isRecord(messages)) return undefined;
  return isRecord(messages.format) ? messages.format.schema : messages.schema;
}
