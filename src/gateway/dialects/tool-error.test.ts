import { expect, it } from "vitest";
import { looksLikeError } from "./tool-error.ts";

it.each([
  ["Error: no such file", true],
  ["error", true],
  ["  ERROR 404", true],
  ["Traceback (most recent call last):\n  File", true],
  ['{"error": "not found"}', true],
  ['{ "error": {"code": 3} }', true],
  ['{"error": null, "rows": 3}', false],
  ['{"error": false}', false],
  ["Errors are described in chapter 3", false],
  ["no error", false],
  ["done", false],
  ["", false],
])("the result %j is an error: %s", (result, expected) => {
  expect(looksLikeError(result)).toBe(expected);
});
