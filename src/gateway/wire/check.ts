import type { z } from "zod";
import { HttpError } from "../errors/http-error.ts";

/**
 * Parses a value by its schema. Throws a 400 that names the invalid member.
 * `at` is the path of the value in the request. `hintFor` may give an issue a
 * hint of its own.
 */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: readonly PropertyKey[] = [],
  hintFor: (issue: z.core.$ZodIssue) => string | undefined = () => undefined,
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, issue } = innermost(parsed.error.issues[0]!, at);
  const param = path.map(String).join(".");
  throw new HttpError(400, `${param === "" ? "the request" : param}: ${issue.message}`, {
    hint: hintFor(issue) ?? "/openapi.json says what it may be",
    code: "invalid_value",
    param: param === "" ? undefined : param,
  });
}

/** The most specific issue: in a union, the alternative whose issue lies deepest. */
function innermost(
  issue: z.core.$ZodIssue,
  at: readonly PropertyKey[],
): { path: readonly PropertyKey[]; issue: z.core.$ZodIssue } {
  const path = [...at, ...issue.path];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return { path, issue };
  const deepest = issue.errors.flat().reduce((a, b) => (b.path.length > a.path.length ? b : a));
  return deepest.path.length > 0 ? innermost(deepest, path) : { path, issue };
}
