import { openAiError } from "../../codecs/errors.ts";
import { isRecord, parsed } from "../../wire/json.ts";

/**
 * The body of an error response in the form in which it is classified: an error of Anthropic's shape in OpenAI's, and
 * other bodies as they are. A body that is nested deeper than any error is left out, because recursive functions would
 * exceed the stack.
 */
export function errorBody(body: Uint8Array): Uint8Array {
  if (isDeep(body)) return new Uint8Array();
  const value = parsed(Buffer.from(body).toString());
  if (!isRecord(value) || value.type !== "error" || !isRecord(value.error)) return body;
  return Buffer.from(JSON.stringify(openAiError(value.error)));
}

/** Whether more brackets are open at some place than in any error. Those in texts count too. */
function isDeep(json: Uint8Array): boolean {
  let open = 0;
  for (const byte of json) {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
    if (open > MOST_LEVELS) return true;
  }
  return false;
}

const MOST_LEVELS = 128;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
