import fc from "fast-check";
import { expect, it } from "vitest";
import { areAmbiguous, matches, specificity } from "./aliases.ts";

it.each([
  ["claude-*", "claude-*", true],
  ["a", "a", true],
  ["a", "b", false],
  ["a*c", "ab*", true],
  ["gpt-*", "o3-*x", false],
  ["*ab", "ab*", true],
  ["ab*", "ac*", false],
  ["*", "*", true],
  ["a*", "*", false],
  ["claude-*", "claude-opus-*", false],
  ["gpt", "g*pt", false],
])("%s and %s are ambiguous: %s", (a, b, expected) => {
  expect([areAmbiguous(a, b), areAmbiguous(b, a)]).toEqual([expected, expected]);
});

it("two aliases of the same rank are ambiguous exactly if some name fits both", () => {
  const alias = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 4 });
  // A name that fits both aliases, if there is one, exists with at most this many characters.
  const names = Array.from({ length: 7 }, (_, length) => textsOf(length)).flat();
  fc.assert(
    fc.property(alias, alias, (a, b) => {
      const isSame = specificity(a) === specificity(b);
      const fits = names.some((name) => matches(a, name) && matches(b, name));
      expect(areAmbiguous(a, b)).toBe(isSame && fits);
    }),
    { seed: 1, numRuns: 500 },
  );
});

function textsOf(length: number): string[] {
  if (length === 0) return [""];
  return textsOf(length - 1).flatMap((text) => [`${text}a`, `${text}b`]);
}
