import { z } from "zod";

/** Schema of a text without control characters, because it is stored and shown in lists. */
export function printable(longest: number): z.ZodString {
  // The class uses only escapes that patterns of all languages know, because openapi.json has it.
  const pattern = new RegExp(`^[^${CONTROLS}]{1,${longest}}$`, "u");
  return z.string().regex(pattern, `has to be 1 to ${longest} printable characters`);
}

const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f";
