import { formatErrorLine } from "./joust-error.ts";

/**
 * Returns a matcher for `toThrow`. It matches an error whose text, as `formatErrorLine`
 * writes it, contains `expected` or matches it.
 */
export function errorText(expected: RegExp | string) {
  const matches = (error: unknown): boolean => {
    const text = formatErrorLine(error);
    return typeof expected === "string" ? text.includes(expected) : expected.test(text);
  };
  return {
    $$typeof: Symbol.for("jest.asymmetricMatcher"),
    asymmetricMatch: matches,
    toString: () => "errorText",
    toAsymmetricMatcher: () => `errorText(${expected})`,
  };
}
