import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { openEncoder } from "../../core/encoder/open-encoder.ts";
import { Classifier, type Example, readExamples } from "./classifier.ts";

const DATA = resolve(import.meta.dirname, "../../../data");
const read = (name: string) => readExamples(resolve(DATA, `${name}.jsonl`));
const examples = await Promise.all([read("queries"), read("free-form/exemplars")]);

async function accuracy(encoder: Encoder, fresh: readonly Example[]): Promise<number> {
  const classifier = await Classifier.learn(examples.flat(), encoder);
  let right = 0;
  for (const { query, category } of fresh) {
    if ((await classifier.classify(query)) === category) right++;
  }
  return right / fresh.length;
}

describe("fifty new prompts", () => {
  it("differ from all texts that the classifier was trained or tuned on", async () => {
    const fresh = await read("free-form/test");
    const known = [...examples.flat(), ...(await read("free-form/dev"))];
    expect(fresh).toHaveLength(50);
    for (const { query } of fresh) {
      for (const other of known) {
        expect(likeness(query, other.query), `${query} / ${other.query}`).toBeLessThan(0.8);
      }
    }
  });

  // Measured: 48 of 50 with the static encoder, the default; 41 with the hash, 49 with MiniLM.
  it.each(["static", "hash"])("get the right category at least 40 times: %s", async (name) => {
    const encoder = await openEncoder(name);
    expect(await accuracy(encoder, await read("free-form/test"))).toBeGreaterThanOrEqual(0.8);
  });
});

it("classifies its own examples", async () => {
  expect(await accuracy(hashEncoder, examples[0])).toBeGreaterThan(0.97);
});

it("gives every text a category", async () => {
  const classifier = await Classifier.learn(examples.flat(), hashEncoder);
  const categories = new Set(examples.flat().map(({ category }) => category));
  for (const text of ["", "   ", "?", "日本語の質問", "x".repeat(1e5)]) {
    expect(categories.has(await classifier.classify(text))).toBe(true);
  }
});

/** Share of words that two texts have in common. */
function likeness(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => new Set(text.toLowerCase().match(/\p{L}+/gu)));
  return (2 * x!.intersection(y!).size) / (x!.size + y!.size);
}
