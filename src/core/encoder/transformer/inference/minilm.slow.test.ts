import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dot } from "../../../linalg/linalg.ts";
import { describeWithShared, shared } from "../../shared.fixture.ts";
import { openTransformer, type TransformerEncoder } from "./transformer-encoder.ts";

const MODEL = "models/all-MiniLM-L6-v2";
const FIXTURES = "fixtures/minilm";

describeWithShared("MiniLM as it is served, against PyTorch", [MODEL, FIXTURES], () => {
  let float: TransformerEncoder;
  let int8: TransformerEncoder;
  let texts: string[];
  let golden: Float64Array[];
  beforeAll(async () => {
    [float, int8] = await Promise.all([
      openTransformer(shared(MODEL)),
      openTransformer(shared(MODEL), { int8: true }),
    ]);
    const lines = readFileSync(shared(`${FIXTURES}/texts.jsonl`), "utf8")
      .trim()
      .split("\n");
    texts = lines.map((line) => (JSON.parse(line) as { text: string }).text);
    const bytes = readFileSync(shared(`${FIXTURES}/embeddings.f32`));
    const numbers = new Float32Array(new Uint8Array(bytes).buffer);
    golden = texts.map((_, k) => new Float64Array(numbers.subarray(k * 384, (k + 1) * 384)));
  });
  afterAll(async () => {
    await float.close();
    await int8.close();
  });

  it("has a cosine of 0.99999 and every number within 1e-4, for all texts", async () => {
    expect(texts).toHaveLength(59);
    const vectors = await float.encode(texts);
    for (const [k, x] of vectors.entries()) {
      expect(dot(x, golden[k]!)).toBeGreaterThan(0.99999);
      expect(largestDifference(x, golden[k]!)).toBeLessThan(1e-4);
    }
  });

  it("has a cosine of at least 0.975 in 8 bits, and 0.99 on average", async () => {
    const vectors = await int8.encode(texts);
    const cosines = vectors.map((x, k) => dot(x, golden[k]!));
    expect(Math.min(...cosines)).toBeGreaterThan(0.975);
    expect(cosines.reduce((a, b) => a + b) / cosines.length).toBeGreaterThan(0.99);
  });

  it("a text's batch changes its numbers by at most 1e-6, also in 8 bits", async () => {
    for (const int8 of [false, true]) {
      const encoder = await openTransformer(shared(MODEL), { int8, cacheSize: 0 });
      const together = await encoder.encode(texts);
      for (const [k, text] of texts.entries()) {
        const [alone] = await encoder.encode([text]);
        expect(largestDifference(alone!, together[k]!)).toBeLessThan(1e-6);
      }
      await encoder.close();
    }
  });
});

function largestDifference(a: Float64Array, b: Float64Array): number {
  return Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));
}
