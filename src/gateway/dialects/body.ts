import type { Json, Members } from "../wire/json.ts";

/** The object in the bytes of a request. */
export function bodyOf({ json, open, close }: Members): Json {
  return JSON.parse(Buffer.from(json.subarray(open, close + 1)).toString());
}
