import { describe, expect, it } from "vitest";
import { categoryWeights, labelEmbeddings, modelEmbeddings } from "../bandit/weighting.ts";
import { bestModels, weighModels } from "./models.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);
const xi = [at(1, 0, 0), at(0, 1, 0), at(0, 0, 1)];
const told = {
  scores: [at(0.9, 0.2, 0.4), at(0.5, 0.6, 0.5), at(0.1, 0.8, 0.3)],
  costs: [at(9, 9, 9), at(1, 2, 3), at(0, 0, 8)],
};
const settings = { tau: 1, lambda: 0.1, temperature: 0.5 };
const labelled = [
  { x: at(1, 1, 0), best: [0] },
  { x: at(0, 2, 2), best: [0, 2] },
];

describe("weighModels", () => {
  it.each(["perf", "perf_cost", "excel_perf_cost", "excel_mask"] as const)(
    "%s weighs the categories by scores and costs, with the settings given",
    (weighting) => {
      const weights = categoryWeights(weighting, told.scores, told.costs, settings);
      const a = weighModels({ weighting, ...settings }, told, xi, labelled);
      expect(a).toEqual(modelEmbeddings(weights, xi));
      const cooler = weighModels({ weighting, ...settings, tau: 2, temperature: 5 }, told, xi, []);
      expect(cooler).not.toEqual(a);
    },
  );

  it("labels needs no scores: it takes the mean of the queries on which a model is best", () => {
    const a = weighModels({ weighting: "labels", ...settings }, told, xi, labelled);
    expect(a).toEqual(labelEmbeddings(3, labelled));
    expect(a[2]).toEqual(at(0, 2, 2));
  });

  it("an unknown score counts as the mean of the known ones", () => {
    const holes = [at(0.9, Number.NaN, 0.4), ...told.scores.slice(1)];
    const filled = [at(0.9, 0.7, 0.4), ...told.scores.slice(1)];
    const weigh = (scores: Float64Array[]) =>
      weighModels({ weighting: "perf", ...settings }, { scores }, xi, []);
    expect(weigh(holes)).toEqual(weigh(filled));
  });
});

it("bestModels returns all models with the largest score", () => {
  expect(bestModels(at(0.5, 1, 0.2, 1))).toEqual([1, 3]);
});
