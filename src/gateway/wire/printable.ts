import { z } from "zod";

/** A text without control characters: it is kept in a database and shown in lists. */
export function printable(longest: number): z.ZodString {
  // In a class that every dialect of patterns knows: openapi.json is read by programs in any language.
  const pattern = new RegExp(`^[^${CONTROLS}]{1,${longest}}$`, "u");
  return z.string().regex(pattern, `has to be 1 to ${longest} printable characters`);
}

const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f";
