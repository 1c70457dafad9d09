import fc from "fast-check";
import { expect, it } from "vitest";
import { Chunks } from "./chunks.ts";

it("returns the bytes of all chunks in their order, and begins anew", () => {
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ max: 5000, min: 0 })),
    {
      maxLength: 300,
    },
  );
  const chunks = new Chunks();
  fc.assert(
    fc.property(sizes, (list) => {
      const pieces = list.map((size, i) => Buffer.alloc(size, i % 251));
      for (const piece of pieces) chunks.push(piece);
      const all = Buffer.concat(pieces);
      expect(chunks.bytes).toBe(all.length);
      expect(chunks.take().equals(all)).toBe(true);
      expect(chunks.bytes).toBe(0);
    }),
    { seed: 1, numRuns: 200 },
  );
});

it("keeps a single chunk as it is", () => {
  const chunks = new Chunks();
  const only = Buffer.from("a");
  chunks.push(only);
  expect(chunks.take()).toBe(only);
});

it("copies small chunks after the first few, so that it does not hold each of them", () => {
  const chunks = new Chunks();
  const pieces = Array.from({ length: 1000 }, () => Buffer.from("a"));
  for (const piece of pieces) chunks.push(piece);
  for (const piece of pieces) piece.write("b");
  expect(chunks.take().toString()).toBe(`${"b".repeat(16)}${"a".repeat(984)}`);
});
