import { expect, it } from "vitest";
import { scanObject } from "../wire/json.ts";
import { answerLimits } from "./answer-limits.ts";

const limitsOf = (request: object) =>
  answerLimits(scanObject(Buffer.from(JSON.stringify(request))));

it.each([
  [{}, { n: 1, answerTokens: undefined }],
  [
    { n: null, max_tokens: null },
    { n: 1, answerTokens: undefined },
  ],
  [
    { n: 50, max_tokens: 900 },
    { n: 50, answerTokens: 900 },
  ],
  [
    { best_of: 20, n: 2 },
    { n: 20, answerTokens: undefined },
  ],
  [
    { max_completion_tokens: 1, max_tokens: 900_000 },
    { n: 1, answerTokens: 900_000 },
  ],
  [{ max_output_tokens: 7 }, { n: 1, answerTokens: 7 }],
  // Some upstreams read a negative limit as none.
  [{ max_tokens: -1 }, { n: 1, answerTokens: undefined }],
])("are read from %j", (request, limits) => {
  expect(limitsOf(request)).toEqual(limits);
});

it.each([-5000, 0, 1.5, 129, "2"])("a number of answers cannot be %j", (n) => {
  expect(() => limitsOf({ n })).toThrow(
    expect.objectContaining({ status: 400, param: "n", code: "invalid_value" }),
  );
});
