import { isRecord, parsed } from "../../wire/json.ts";
import { lettersOf, windowsIn } from "./letters.ts";

/** Whether a part of an upstream's message may repeat the request. */
export interface Echo {
  /** Whether it may repeat a value. Messages about a parameter name the parameter, which is no repetition. */
  ofValue(text: string): boolean;
  /** Whether it may repeat a value, or the name of a member that no dialect has. */
  ofAny(text: string): boolean;
}

/** The echo of a request that is not known. */
export const NO_ECHO: Echo = { ofValue: () => false, ofAny: () => false };

/**
 * Finds text of a request in the upstream's message about it. Upstreams quote a text in
 * part, with other quotation marks, escapes or spaces, so only letters and digits are compared, and a
 * few of them in sequence are enough. It may take the upstream's own words for a quotation, if the
 * conversation is about such errors; then nothing is remembered, which costs one call. The
 * returned functions accept parts of `message`.
 */
export function echoIn(sent: Uint8Array, message: string): Echo {
  if (sent.length > MAX_BYTES) return { ofValue: () => true, ofAny: () => true };
  const request = parsed(Buffer.from(sent).toString());
  const model = isRecord(request) && typeof request.model === "string" ? request.model : "";
  const said = lettersOf([message]);
  // A short name of a model is part of other words.
  const own = [...DIALECT_WORDS, model]
    .map((word) => lettersOf([word]).toString("latin1"))
    .filter((word) => word.length >= WINDOW);
  const finder = (texts: readonly string[]) => {
    const letters = lettersOf(texts);
    const repeated = windowsIn(letters, said, WINDOW);
    return (text: string) => {
      const cut = own.reduce(
        (rest, word) => rest.replaceAll(word, " "),
        lettersOf([text]).toString("latin1"),
      );
      return cut.split(" ").some((part) => {
        if (part.length < WINDOW) return part !== "" && letters.includes(part, 0, "latin1");
        return !repeated || windowsOf(part).some((window) => repeated.has(window));
      });
    };
  };
  const { values, names } = textsIn(request);
  const ofValue = finder(values);
  const ofName = finder(names);
  return { ofValue, ofAny: (text) => ofValue(text) || ofName(text) };
}

/**
 * Size of a request beyond which all of a message counts as a repetition. The thread that serves requests makes the
 * comparison, which takes about 15 ms for this size.
 */
const MAX_BYTES = 2 ** 20;

/** Values of members that upstreams name in their own messages. They are no sentences, so they say nothing alone. */
const DIALECT_WORDS =
  "json_schema json_object image_url input_image developer ephemeral function".split(" ");

/** Letters and digits in sequence that count as a repetition. A shorter text has to occur as a whole. */
const WINDOW = 8;

function windowsOf(text: string): string[] {
  return Array.from({ length: text.length - WINDOW + 1 }, (_, i) => text.slice(i, i + WINDOW));
}

/** All texts in the values of a request, and the names of its members that upstreams do not use in their own words. */
function textsIn(request: unknown): { readonly values: string[]; readonly names: string[] } {
  const values: string[] = [];
  const names: string[] = [];
  const open: unknown[] = [request];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") values.push(next);
    else if (typeof next === "object" && next !== null) {
      if (!Array.isArray(next)) {
        names.push(...Object.keys(next).filter((name) => !MEMBER_WORDS.has(name)));
      }
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return { values, names };
}

/** Names of members that upstreams use in messages about features and lengths. */
const MEMBER_WORDS: ReadonlySet<string> = new Set([
  ...["function", "functions", "function_call", "tools", "tool_choice", "tool_calls"],
  ...["response_format", "json_schema", "schema", "image_url", "input_image", "prompt", "input"],
  ...["max_tokens", "max_completion_tokens", "max_output_tokens", "messages", "model"],
]);
