import type { z } from "zod";
import { HttpError } from "./http-error.ts";

/** A value in the shape that it must have; else a 400 that names the member. */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: readonly PropertyKey[] = [],
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = innermost(parsed.error.issues[0]!, at);
  const param = path.map(String).join(".");
  const place = param === "" ? "the request" : param;
  const help = message.includes("; help: ") ? "" : "; help: /openapi.json says what it may be";
  throw new HttpError(400, `${place}: ${message}${help}`, {
    code: "invalid_value",
    param: param === "" ? undefined : param,
  });
}

/** Of a union's faults the one that got furthest says most. */
function innermost(
  issue: z.core.$ZodIssue,
  at: readonly PropertyKey[],
): { path: readonly PropertyKey[]; message: string } {
  const path = [...at, ...issue.path];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) {
    return { path, message: issue.message };
  }
  const deepest = issue.errors.flat().reduce((a, b) => (b.path.length > a.path.length ? b : a));
  return deepest.path.length > 0 ? innermost(deepest, path) : { path, message: issue.message };
}
