import fc from "fast-check";
import { expect, test } from "vitest";
import { isRecord } from "../../wire/json.ts";
import { textBytes } from "./text-tokens.ts";

const TEXTS = ["content", "text", "refusal", "arguments", "thinking", "reasoning"];

/** The same count of a parsed value. */
function referenceBytes(value: unknown, isOuter = true): number {
  if (typeof value === "string") return isOuter ? Buffer.byteLength(value) : 0;
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + referenceBytes(one, false), 0);
  if (!isRecord(value)) return 0;
  return Object.entries(value).reduce((sum, [name, inner]) => {
    if (name === "input") return sum + inputBytes(inner);
    const isText = typeof inner === "string" && TEXTS.includes(name);
    return sum + (isText ? Buffer.byteLength(inner) : referenceBytes(inner, false));
  }, 0);
}

/** Bytes of arguments, which are an object. A number or a word in their place counts as one byte. */
function inputBytes(input: unknown): number {
  const hasEnds = typeof input === "string" || (typeof input === "object" && input !== null);
  return hasEnds ? Buffer.byteLength(JSON.stringify(input)) : 1;
}

const string = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", "a\n{[", "é€👩"));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(string, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(...TEXTS, "input", "type", "token", "é"),
      fc.oneof(string, tie("value")),
      { maxKeys: 5 },
    ),
  ),
}));

test("counts the bytes of the texts as a walk over the parsed value does", () => {
  const countIn = (json: string) => {
    const bytes = Buffer.from(`  ${json}  `);
    return textBytes(bytes, 2, bytes.length - 2);
  };
  fc.assert(
    fc.property(value, (sent) => {
      const json = JSON.stringify(sent);
      expect(countIn(json)).toBe(referenceBytes(sent));
    }),
    { seed: 1, numRuns: 2000 },
  );
  // Python writes all other letters as escapes.
  const text = 'a"\\/\n\u0007\u00a9é\u07ff\u0800€\ud7ff\ue000👩‍👩‍👧';
  const ascii = JSON.stringify({ text }).replaceAll(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`,
  );
  expect(countIn(ascii)).toBe(Buffer.byteLength(text));
  expect(countIn('{ "text" : "ab" , "list" : [ "text", "c" ], "content":[{ "text":"d" }] }')).toBe(
    3,
  );
});
