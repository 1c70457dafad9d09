import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { dotAt } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import { readModelFolder } from "../transformer/model/model-folder.ts";
import { temporaryModels, tinyModel } from "../transformer/model/tiny-model.fixture.ts";
import { forward } from "../transformer/reference/forward.fixture.ts";
import { distill, principalAxes, project, tokenFrequencies, tokenVectors } from "./distill.ts";

const makeModel = temporaryModels();

it.each(["bert", "mpnet"] as const)(
  "a token's vector is the input of the first layer of %s",
  async (kind) => {
    const { architecture, weights } = await readModelFolder(makeModel(tinyModel(kind)));
    const { hiddenSize: d } = architecture;
    const vectors = tokenVectors(architecture, weights, 16);
    for (let token = 0; token < 16; token++) {
      if (token === architecture.padTokenId) continue; // the padding token has no position in MPNet
      const rows = forward([2, token, 3], { ...architecture, layers: 0 }, weights);
      for (let i = 0; i < d; i++) expect(vectors[token * d + i]).toBeCloseTo(rows[1]![i]!, 12);
    }
  },
);

describe("principal axes", () => {
  const [n, d] = [40, 5];
  const random = Random.seeded(3);
  const vectors = Float64Array.from({ length: n * d }, (_, i) => random.normal() * (1 + (i % d)));
  const weights = Float64Array.from({ length: n }, () => random.uniform());
  const rows = { vectors, d, weights };
  const total = weights.reduce((sum, weight) => sum + weight, 0);

  /** Weighted second moment of two components, in plain code. */
  const moment = (out: Float64Array, k: number, i: number, j: number) =>
    weights.reduce((sum, w, row) => sum + w * out[row * k + i]! * out[row * k + j]!, 0) / total;

  it.each([0, 1, 3, 4])(
    "components are uncorrelated, and flatten %i evens out their variances",
    (flatten) => {
      const axes = principalAxes(rows);
      const out = project(rows, axes, d, flatten);
      for (let i = 0; i < d; i++) {
        const mean = weights.reduce((sum, w, row) => sum + w * out[row * d + i]!, 0) / total;
        expect(mean).toBeCloseTo(0, 12);
        for (let j = 0; j < d; j++) {
          const expected = i === j ? axes.variances[i]! ** (1 - flatten / 4) : 0;
          expect(moment(out, d, i, j)).toBeCloseTo(expected, 10);
        }
      }
    },
  );

  it("all axes preserve every distance, and fewer axes give the first components", () => {
    const axes = principalAxes(rows);
    const whole = project(rows, axes, d, 0);
    const few = project(rows, axes, 2, 0);
    const distance = (of: Float64Array, a: number, b: number) =>
      Math.hypot(...Array.from({ length: d }, (_, i) => of[a * d + i]! - of[b * d + i]!));
    for (let row = 1; row < n; row++) {
      expect(distance(whole, 0, row)).toBeCloseTo(distance(vectors, 0, row), 10);
      expect([...few.subarray(2 * row, 2 * row + 2)]).toEqual([
        ...whole.subarray(d * row, d * row + 2),
      ]);
    }
  });

  it("a weight of n equals n copies of a row, and a weight of 0 equals no row", () => {
    const counts = Float64Array.from({ length: n }, (_, i) => i % 4);
    const copies = [...counts.keys()].flatMap((i) =>
      Array.from({ length: counts[i]! }, () => [...vectors.subarray(i * d, (i + 1) * d)]),
    );
    const weighted = principalAxes({ vectors, d, weights: counts });
    const copied = principalAxes({
      vectors: Float64Array.from(copies.flat()),
      d,
      weights: new Float64Array(copies.length).fill(1),
    });
    for (let i = 0; i < d; i++) {
      expect(weighted.variances[i]).toBeCloseTo(copied.variances[i]!, 10);
      expect(dotAt(weighted.axes, i * d, copied.axes, i * d, d)).toBeCloseTo(1, 10);
    }
  });
});

it("frequencies fall with the rank of words; punctuation is as frequent as the first word, placeholders have 0", () => {
  const tokens = ["[PAD]", "[unused1]", "?", "é", "the", "of", "##s", "", "zebra"];
  const f = tokenFrequencies({
    tokens,
    added: [{ content: "[PAD]", id: 0, normalized: false }],
    unknown: 0,
    continuingPrefix: "##",
    longestWord: 100,
    normalizer: { cleanText: true, handleChineseChars: true, stripAccents: null, lowercase: true },
  });
  expect([...f]).toEqual([0, 0, 1 / 30, 1 / 34, 1 / 30, 1 / 31, 1 / 32, 0, 1 / 33]);
});

describe("distilling a small model", async () => {
  const model = await readModelFolder(makeModel(tinyModel("bert")));

  it("gives one row per token, and the same bytes every time", () => {
    const table = distill(model, { dimension: 5, flatten: 3 });
    expect(table.scales.length).toBe(model.tokenizer.vocabSize);
    expect(table.rows.length).toBe(5 * model.tokenizer.vocabSize);
    expect(distill(model, { dimension: 5, flatten: 3 })).toEqual(table);
  });

  it("rejects more dimensions than the model has", () => {
    expect(() => distill(model, { dimension: 9, flatten: 0 })).toThrow(
      errorText(/give --dimension 8 or less/),
    );
  });
});
