import { isRecord, parsed } from "../../wire/json.ts";

/** Whether a part of a host's message may repeat the request. */
export type IsEcho = (text: string) => boolean;

/**
 * Returns a function that finds text of a request in the host's message about it. Hosts quote a text in
 * part, with other quotation marks, escapes or spaces, so only letters and digits are compared, and a
 * few of them in sequence are enough. The function may take the host's own words for a quotation, if the
 * conversation is about such errors; then nothing is remembered, which costs one call.
 */
export function echoIn(sent: Uint8Array): IsEcho {
  if (sent.length > MAX_BYTES) return () => true;
  const request = parsed(Buffer.from(sent).toString());
  const model = isRecord(request) && typeof request.model === "string" ? request.model : "";
  const own = [...DIALECT_WORDS, model].map(letters).filter((word) => word !== "");
  let values: string | undefined;
  return (text) => {
    values ??= letters(stringsIn(request).join(" "));
    const all = values;
    const parts = own.reduce((rest, word) => rest.replaceAll(word, " "), letters(text)).split(" ");
    return parts.some((part) => windowsOf(part).some((window) => all.includes(window)));
  };
}

/** Size of a request beyond which all of a message counts as a repetition, because the comparison would take long. */
const MAX_BYTES = 4 * 2 ** 20;

/** Values of members that hosts name in their own messages. They are no sentences, so they say nothing alone. */
const DIALECT_WORDS = ["json_schema", "json_object", "image_url", "input_image", "developer"];

/** Letters and digits in sequence that count as a repetition. A shorter text has to occur as a whole. */
const WINDOW = 8;

function windowsOf(text: string): string[] {
  if (text === "") return [];
  const count = Math.max(1, text.length - WINDOW + 1);
  return Array.from({ length: count }, (_, i) => text.slice(i, i + WINDOW));
}

/** Letters and digits of a text in lower case, without escaped characters such as \n. */
function letters(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\[nrtbf]|[^a-z0-9]+/g, "");
}

/** All texts in the values of a request. Names of members are not among them. */
function stringsIn(value: unknown): string[] {
  const found: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") found.push(next);
    else if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return found;
}
