import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import {
  categoryWeights,
  excelMask,
  labelEmbeddings,
  modelEmbeddings,
  perfCost,
  round3,
  softmax,
  WEIGHTING_DEFAULTS,
  type WeightingOptions,
} from "./weighting.ts";
import { CATEGORIES, PRINTED, readScores } from "./weighting-table.fixture.ts";

/** The ten candidate models of the paper, without GPT-4. */
const MODELS = Object.keys(PRINTED);
const { perf, cost } = readScores(MODELS);
const scores = perfCost(perf, cost, WEIGHTING_DEFAULTS.lambda);

describe("the paper's weighting table", () => {
  const printed = (column: "perfCost" | "mask") => MODELS.map((name) => PRINTED[name]![column]);

  it("all 70 cells of Perf_cost are Perf - 0.05 Cost at three decimals", () => {
    expect(scores.map((row) => Array.from(row, round3))).toEqual(printed("perfCost"));
  });

  it("the printed masks are those of eq. (5) except for one cell, GPT-3.5 on MT-Bench", () => {
    const mask = excelMask(scores, WEIGHTING_DEFAULTS);
    const differing = MODELS.flatMap((name, k) =>
      CATEGORIES.flatMap((category, m) => {
        const shown = PRINTED[name]!.mask[m]!;
        return mask[k]![m] === shown ? [] : [`${name} on ${category}: printed ${shown}`];
      }),
    );
    expect(differing).toEqual(["gpt-3.5 on mt-bench: printed 1"]);
  });

  it("denseRank gives all 70 masks as printed", () => {
    const mask = excelMask(scores, { tau: 3, denseRank: true });
    expect(mask.map((row) => [...row])).toEqual(printed("mask"));
  });

  it("with GPT-4 the masks of MT-Bench, MBPP and Winogrande change, and no others", () => {
    const eleven = readScores([...MODELS, "gpt-4"]);
    const mask = excelMask(perfCost(eleven.perf, eleven.cost, 0.05), WEIGHTING_DEFAULTS);
    const ten = excelMask(scores, WEIGHTING_DEFAULTS);
    const changed = CATEGORIES.filter((_, m) => ten.some((row, k) => row[m] !== mask[k]![m]));
    expect(changed).toEqual(["mt-bench", "mbpp", "winogrande"]);
  });
});

describe("categoryWeights", () => {
  const span = (rows: readonly Float64Array[]) => {
    const all = rows.flatMap((row) => [...row]);
    return [round3(Math.min(...all)), round3(Math.max(...all))];
  };

  it.each([
    ["perf", [0.094, 0.184]],
    ["perf_cost", [0.056, 0.225]],
    ["excel_perf_cost", [0.071, 0.295]],
  ] as const)("%s spans only %j at temperature 1", (weighting, expected) => {
    expect(span(categoryWeights(weighting, perf, cost))).toEqual(expected);
  });

  it.each(["perf", "perf_cost", "excel_perf_cost"] as const)("%s sums to 1", (weighting) => {
    for (const row of categoryWeights(weighting, perf, cost)) expect(sum(row)).toBeCloseTo(1, 14);
  });

  it("a low temperature puts all weight on the best category, a high one spreads it", () => {
    const cold = categoryWeights("perf", perf, cost, { temperature: 1e-4 });
    cold.forEach((row, k) => {
      expect(row.indexOf(Math.max(...row))).toBe(perf[k]!.indexOf(Math.max(...perf[k]!)));
      expect(Math.max(...row)).toBeGreaterThan(0.999);
    });
    const [low, high] = span(categoryWeights("perf", perf, cost, { temperature: 1e4 }));
    expect([low, high]).toEqual([0.143, 0.143]);
  });

  it("without costs perf_cost is perf", () => {
    expect(categoryWeights("perf_cost", perf, undefined)).toEqual(
      categoryWeights("perf", perf, undefined),
    );
  });

  describe("excel", () => {
    // The first model excels in both categories, in one with a negative score; the last model excels nowhere.
    const table = [
      Float64Array.of(0.9, -0.2),
      Float64Array.of(0.8, -0.3),
      Float64Array.of(0, -0.9),
    ];
    const weights = (
      weighting: "excel_perf_cost" | "excel_mask",
      options: Partial<WeightingOptions> = {},
    ) => categoryWeights(weighting, table, undefined, { tau: 2, ...options });

    it("zeros stay inside the softmax: a model that excels nowhere has equal weights", () => {
      expect([...weights("excel_perf_cost")[2]!]).toEqual([0.5, 0.5]);
      const one = categoryWeights("excel_perf_cost", table, undefined, { tau: 1 })[1]!;
      expect([...one]).toEqual([0.5, 0.5]);
    });

    it("a negative score that excels weighs less than one that does not, as in the paper", () => {
      const [first] = weights("excel_perf_cost");
      const e = [Math.exp(0.9), Math.exp(-0.2)];
      expect(first![1]).toBeCloseTo(e[1]! / (e[0]! + e[1]!), 15);
      expect(first![1]).toBeLessThan(1 / (e[0]! + 1));
    });

    it("excel_mask is mask / tau; the row of a model that excels nowhere is all zeros", () => {
      expect(weights("excel_mask").map((row) => [...row])).toEqual([
        [0.5, 0.5],
        [0.5, 0.5],
        [0, 0],
      ]);
      const thirds = categoryWeights("excel_mask", perf, cost);
      expect(sum(thirds[MODELS.indexOf("yi-34b")]!)).toBeCloseTo(2, 14); // excels in six
      expect(sum(thirds[MODELS.indexOf("wizardlm-13b")]!)).toBe(0);
    });

    it("all models excel if tau is at least the number of models", () => {
      for (const tau of [3, 10]) {
        const mask = excelMask(table, { tau, denseRank: false });
        expect(mask.every((row) => row.every((value) => value === 1))).toBe(true);
      }
    });

    it("all models with the score of the threshold excel", () => {
      const equal = [0.5, 0.4, 0.4, 0.3].map((score) => Float64Array.of(score));
      const mask = excelMask(equal, { tau: 2, denseRank: false });
      expect(mask.map((row) => row[0])).toEqual([1, 1, 1, 0]);
    });
  });
});

describe("softmax", () => {
  it("does not overflow and does not change with a common shift", () => {
    const row = Float64Array.of(1000, 1001, -1000);
    expect(sum(softmax(row, 1))).toBeCloseTo(1, 15);
    expect(softmax(row, 1)).toEqual(softmax(Float64Array.of(0, 1, -2000), 1));
  });
});

describe("round3", () => {
  it.each([
    [0.409 - 0.05 * 0.21, 0.399],
    [0.601 - 0.05 * 1.17, 0.543],
    [0.841 - 0.05 * 19.43, -0.131],
    [0.664 - 0.05 * 13.49, -0.011],
    [0.5424, 0.542],
    [-0.5544, -0.554],
  ])("rounds %d to %d: halves go away from zero", (value, expected) => {
    expect(round3(value)).toBe(expected);
  });
});

describe("modelEmbeddings", () => {
  it("mixes the category embeddings by their weights", () => {
    const xi = [Float64Array.of(1, 0, 2), Float64Array.of(0, 1, 4)];
    const a = modelEmbeddings([Float64Array.of(0.25, 0.75), new Float64Array(2)], xi);
    expect(a.map((row) => [...row])).toEqual([
      [0.25, 0.75, 3.5],
      [0, 0, 0],
    ]);
  });
});

describe("labelEmbeddings (eq. 6)", () => {
  const x = Float64Array.of(1, 0);
  const y = Float64Array.of(0, 1);

  it("is the mean of the queries on which the model is best; if two are best, each counts half", () => {
    const a = labelEmbeddings(2, [
      { x, best: [0] },
      { x: y, best: [0, 1] },
    ]);
    expect([...a[0]!]).toEqual([1 / 1.5, 0.5 / 1.5]);
    expect([...a[1]!]).toEqual([0, 1]);
  });

  it("is the weighted mean of all queries for a model that is never best", () => {
    const queries = [
      { x, best: [0], weight: 3 },
      { x: y, best: [0], weight: 1 },
    ];
    expect([...labelEmbeddings(2, queries)[1]!]).toEqual([0.75, 0.25]);
  });

  /**
   * Proposition 1 under the assumptions of its proof: category m has exactly f_km n_m
   * queries with label k, their embeddings are independent of the label, and eq. 6
   * estimates sum_m f_km E[Q_m] / sum_m f_km. The errors of the replications are
   * independent, so the mean of R of them has a known standard error.
   */
  describe("Proposition 1", () => {
    const f = [
      [0.2, 0.5, 0.7],
      [0.8, 0.5, 0.3],
    ];
    const centres = [Float64Array.of(1, 0), Float64Array.of(0, 1), Float64Array.of(-1, -1)];
    const truth = f.map((row) =>
      [0, 1].map((i) => row.reduce((s, fkm, m) => s + fkm * centres[m]![i]!, 0) / arraySum(row)),
    );

    /** Bias divided by its standard error, for each model and coordinate, and the largest bias. */
    function bias(sizes: readonly number[], weight: (n: number) => number, seed: number) {
      const R = 1000;
      const random = Random.seeded(seed);
      const estimates = Array.from({ length: R }, () => {
        const queries = sizes.flatMap((n, m) =>
          Array.from({ length: n }, (_, i) => ({
            x: centres[m]!.map((value) => value + 0.5 * random.normal()),
            best: [i < Math.round(f[0]![m]! * n) ? 0 : 1],
            weight: weight(n),
          })),
        );
        return labelEmbeddings(2, queries);
      });
      const cells = truth.flatMap((row, k) =>
        row.map((expected, i) => {
          const values = estimates.map((a) => a[k]![i]!);
          const mean = arraySum(values) / R;
          const variance = arraySum(values.map((value) => (value - mean) ** 2)) / (R - 1);
          return { bias: mean - expected, error: Math.sqrt(variance / R) };
        }),
      );
      return {
        worst: Math.max(...cells.map((cell) => Math.abs(cell.bias) / cell.error)),
        largest: Math.max(...cells.map((cell) => Math.abs(cell.bias))),
      };
    }

    // Four cells: the largest of four |N(0, 1)| is above 3.5 in one of 500 seeds.
    it("holds for categories of one size", () => {
      expect(bias([10, 10, 10], () => 1, 1).worst).toBeLessThan(3.5);
    });

    it("fails for unequal sizes: the bias is 0.45, over a hundred standard errors", () => {
      const { worst, largest } = bias([10, 20, 40], () => 1, 2);
      expect(worst).toBeGreaterThan(100);
      // Model 1, first coordinate: (8 - 12) / (8 + 10 + 12) of the queries instead of (0.8 - 0.3) / 1.6.
      expect(largest).toBeCloseTo(0.5 / 1.6 + 4 / 30, 1);
    });

    it("holds again with weights 1/n_m", () => {
      expect(bias([10, 20, 40], (n) => 1 / n, 3).worst).toBeLessThan(3.5);
    });
  });
});

function sum(row: Float64Array): number {
  return arraySum([...row]);
}

function arraySum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
