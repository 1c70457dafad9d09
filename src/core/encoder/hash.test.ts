import fc from "fast-check";
import { expect, it } from "vitest";
import { dot, norm } from "../linalg/linalg.ts";
import { hashEncoder } from "./hash.ts";

async function encode(text: string): Promise<Float64Array> {
  return (await hashEncoder.encode([text]))[0]!;
}

async function cosine(a: string, b: string): Promise<number> {
  return dot(await encode(a), await encode(b));
}

it("returns unit vectors of its dimension that do not depend on the batch", async () => {
  const texts = fc.array(fc.string({ unit: "grapheme" }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(texts, async (batch) => {
      const vectors = await hashEncoder.encode(batch);
      expect(vectors.length).toBe(batch.length);
      for (const [i, x] of vectors.entries()) {
        expect(x.length).toBe(hashEncoder.dimension);
        expect(x).toEqual(await encode(batch[i]!));
        // Texts of only whitespace, or whose features cancel, have the zero vector.
        if (norm(x) !== 0) expect(norm(x)).toBeCloseTo(1, 12);
      }
    }),
    { seed: 1 },
  );
});

it("returns the same numbers on every machine", async () => {
  const x = await encode("What is 12 + 30? A) forty-two B) Δέλτα 漢字");
  const at = [...x.keys()].filter((i) => x[i] !== 0);
  expect([at.length, at.slice(0, 4), at.slice(0, 4).map((i) => x[i])]).toMatchInlineSnapshot(`
    [
      34,
      [
        37,
        47,
        51,
        68,
      ],
      [
        0.05991617598940589,
        0.05991617598940589,
        0.2575730130846949,
        -0.3063076597930081,
      ],
    ]
  `);
});

it("a text without words has the zero vector", async () => {
  expect(norm(await encode(" \n"))).toBe(0);
});

it("ignores case, word order and digits, but not words and punctuation", async () => {
  expect(await cosine("The cat sat on mat 1", "mat 222 on SAT the Cat")).toBeCloseTo(1, 12);
  expect(await cosine("the cat sat", "a dog ran")).toBeLessThan(0.3);
  expect(await cosine("is it so", "is it so?")).toBeLessThan(0.95);
});

it("repeating a text changes its embedding little", async () => {
  const text = "Name three rivers of Europe. Which is the longest of the three?";
  expect(await cosine(text, `${text} `.repeat(20))).toBeCloseTo(1, 12);
  expect(await cosine("rivers of Europe", "rivers rivers rivers rivers of Europe")).toBeGreaterThan(
    0.9,
  );
});

it("finds similar texts in scripts without spaces", async () => {
  expect(await cosine("东京是日本的首都吗", "日本的首都是东京吗")).toBeGreaterThan(
    await cosine("东京是日本的首都吗", "如何学习弹奏一首钢琴曲"),
  );
});
