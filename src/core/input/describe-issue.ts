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
      return Number.isNaN(issue.input) ? "is not a number" : `is ${value}, ${notA(issue.expected)}`;
    case "too_small": {
      const { origin, minimum, inclusive = true } = issue;
      if (isCounted(origin)) return `is ${value}, shorter than ${counted(origin, minimum)}`;
      return `is ${value}, ${inclusive ? "below" : "not above"} ${minimum}`;
    }
    case "too_big": {
      const { origin, maximum, inclusive = true } = issue;
      if (isCounted(origin)) return `is ${value}, longer than ${counted(origin, maximum)}`;
      return `is ${value}, ${inclusive ? "above" : "not below"} ${maximum}`;
    }
    case "invalid_value":
      return `is ${value}, not one of ${issue.values.map(show).join(", ")}`;
    case "invalid_format":
      return `is ${value}, ${FORMATS[issue.format] ?? "which is not valid"}`;
    default:
      return `is ${value}, which is not valid`;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  url: "not a valid URL",
  email: "not a valid email",
  datetime: "not a time such as 2026-11-16T12:00:00Z",
};

function notA(expected: string): string {
  return expected === "int" ? "not a whole number" : `not of type ${expected}`;
}

/** Whether a limit is about the length of the value. */
function isCounted(origin: string): boolean {
  return origin === "string" || origin === "array" || origin === "set" || origin === "map";
}

function counted(origin: string, limit: number | bigint): string {
  const noun = origin === "string" ? "character" : origin === "array" ? "element" : "entry";
  if (Number(limit) === 1) return `1 ${noun}`;
  return `${limit} ${noun === "entry" ? "entrie" : noun}s`;
}

/** A value as JSON, shortened to 60 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
