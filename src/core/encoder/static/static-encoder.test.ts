import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axpy, dot, norm, normalized } from "../../linalg/linalg.ts";
import { WordPiece } from "../tokenizer/word-piece.ts";
import { StaticEncoder } from "./static-encoder.ts";
import { smallTable } from "./static-table.fixture.ts";
import { quantize, vectorOf } from "./static-table.ts";

const table = smallTable();
const encoder = new StaticEncoder(table);
const words = fc.array(
  fc.constantFrom(..."the cat cats dog sat on mat? 1 2 zero é X 漢".split(" ")),
);
const texts = fc.oneof(
  words.map((list) => list.join(" ")),
  fc.string({ unit: "grapheme" }),
);

it("returns the normalised sum of the vectors of the distinct tokens", () => {
  const tokenizer = new WordPiece({ ...table.tokenizer, before: [], after: [] });
  fc.assert(
    fc.property(texts, (text) => {
      const sum = new Float64Array(table.dimension);
      for (const id of new Set(tokenizer.tokenIds(text))) axpy(1, vectorOf(table, id), sum);
      const x = encoder.encodeText(text);
      const expected = normalized(sum);
      for (let i = 0; i < x.length; i++) expect(x[i]).toBeCloseTo(expected[i]!, 12);
    }),
    { seed: 1, numRuns: 300 },
  );
});

it("returns unit vectors that depend neither on the batch nor on earlier texts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 6 }), async (batch) => {
      const vectors = await encoder.encode(batch);
      expect(vectors.length).toBe(batch.length);
      for (const [i, x] of vectors.entries()) {
        expect(x).toEqual(new StaticEncoder(table).encodeText(batch[i]!));
        if (norm(x) !== 0) expect(norm(x)).toBeCloseTo(1, 12);
      }
    }),
    { seed: 1, numRuns: 50 },
  );
});

it("a text without tokens, or with zero vectors only, has the zero vector", () => {
  for (const text of ["", " \n", "zero zero"]) expect(norm(encoder.encodeText(text))).toBe(0);
});

it("the order and the repetition of words do not matter", () => {
  const cosine = (a: string, b: string) => dot(encoder.encodeText(a), encoder.encodeText(b));
  expect(cosine("the cat sat on the mat", "mat cat on sat sat the sat")).toBeCloseTo(1, 12);
  expect(cosine("the cat sat", "the dog sat")).toBeLessThan(0.99);
});

it("lets the event loop run while it encodes many texts", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await encoder.encode(Array.from({ length: 20_000 }, () => "the cat sat on the mat"));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

describe("8 bits", () => {
  const vectors = fc
    .array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 12 })
    .map((values) => Float64Array.from(values));

  it("have an error of at most 1/254 of a row's largest component, which is exact", () => {
    fc.assert(
      fc.property(vectors, (values) => {
        const { rows, scales } = quantize(values, values.length);
        const largest = Math.max(...values.map(Math.abs));
        for (const [i, value] of values.entries()) {
          // The scale is a float32.
          expect(Math.abs(scales[0]! * rows[i]! - value)).toBeLessThanOrEqual(
            largest * (1 / 254 + 1e-6) + 1e-40,
          );
          if (Math.abs(value) === largest && largest > 1e-30) expect(Math.abs(rows[i]!)).toBe(127);
        }
      }),
      { seed: 1 },
    );
  });
});
