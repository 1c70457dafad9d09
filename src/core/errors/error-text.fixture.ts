import { formatErrorLine } from "./joust-error.ts";

/** For `toThrow`: an error whose message and hint, as `formatErrorLine` joins them, match. */
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
