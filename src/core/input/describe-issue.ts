import type { z } from "zod";

/**
 * Describes an issue that zod has found, as a continuation of the name of the field. Pass it to
 * `safeParse` as `error`: texts of the schema itself take precedence, and texts of zod never appear.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "custom") return undefined; // the shape has its own message
  if (issue.input === undefined) return "is missing";
  const value = show(issue.input);
  switch (issue.code) {
    case "invalid_type":
      return `is ${value}, not of type ${issue.expected}`;
    case "too_small":
      return `is ${value}, below ${issue.minimum}`;
    case "too_big":
      return `is ${value}, above ${issue.maximum}`;
    case "invalid_value":
      return `is ${value}, not one of ${issue.values.map(show).join(", ")}`;
    case "invalid_format":
      if (issue.format === "regex") return `is ${value}, which is not valid`;
      return `is ${value}, not a valid ${issue.format === "url" ? "URL" : issue.format}`;
    default:
      return `is ${value}, which is not valid`;
  }
}

/** A value as JSON, shortened to 60 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
