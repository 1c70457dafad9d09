import { expect, it } from "vitest";
import { z } from "zod";
import { describeIssue } from "./describe-issue.ts";

it.each([
  [z.number(), undefined, "is missing"],
  [z.number(), "5", 'is "5", not of type number'],
  [z.number(), Number.NaN, "is not a number"],
  [z.coerce.number(), "x", "is not a number"],
  [z.int(), 1.5, "is 1.5, not a whole number"],
  [z.number().min(0), -1, "is -1, below 0"],
  [z.number().positive(), 0, "is 0, not above 0"],
  [z.number().max(1), 2, "is 2, above 1"],
  [z.number().lt(1), 1, "is 1, not below 1"],
  [z.string().min(1), "", 'is "", shorter than 1 character'],
  [z.string().max(2), "abc", 'is "abc", longer than 2 characters'],
  [z.array(z.string()).min(2), ["a"], 'is ["a"], shorter than 2 elements'],
  [z.enum(["a", "b"]), "c", 'is "c", not one of "a", "b"'],
  [z.url(), "x", 'is "x", not a valid URL'],
  [z.iso.datetime(), "today", 'is "today", not a time such as 2026-11-16T12:00:00Z'],
  [z.string().regex(/a/), "b", 'is "b", which is not valid'],
  [z.string().regex(/a/, "must have an a"), "b", "must have an a"],
  [z.union([z.boolean(), z.literal("auto")]), 3, "is 3, which is not valid"],
  [z.number().multipleOf(5), 3, "is 3, which is not valid"],
])("describes an issue in plain English (%#)", (schema, value, text) => {
  const { error } = schema.safeParse(value, { error: describeIssue });
  expect(error!.issues[0]!.message).toBe(text);
});
