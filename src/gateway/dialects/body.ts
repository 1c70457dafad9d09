import type { Json, Members } from "../wire/json.ts";

/** The object in the bytes of a request. */
export function bodyOf({ json, open, close }: Members): Json {
  return JSON.parse(json.toString("utf8", open, close + 1));
}
