import { describe, expect, it } from "vitest";
import type { Pool } from "../../core/bandit/policy.ts";
import { labelEmbeddings } from "../../core/bandit/weighting.ts";
import { CONTENTS } from "../../core/calibrate/bundle.fixture.ts";
import type { Bundle } from "../../core/calibrate/bundle.ts";
import { textChecksum } from "../../core/calibrate/bundle.ts";
import { weighModels } from "../../core/calibrate/models.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import type { Dataset } from "../data/dataset.ts";
import { splitOf } from "../data/groups.ts";
import { calibrationOf } from "./calibration.ts";
import type { Settings } from "./settings.ts";
import { SCORED, TABLED, world } from "./world.fixture.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);

/**
 * A bundle with the models of TABLED in another order. Its offline queries are queries 2, 3 and 7 of
 * TABLED and one that TABLED does not have.
 */
const { settings } = CONTENTS;
const xi = [at(1, 2), at(3, -1)];
const told = {
  scores: [at(0.8, 0.3), at(0.6, 0.4), at(0.1, 0.9)],
  costs: [at(1, 2), at(3, 4), at(5, 6)],
};
const a = weighModels(settings, told, xi, []);
const names = ["a", "b", "c"];
const BUNDLE: Bundle = {
  ...CONTENTS,
  categories: ["x", "y"].map((name, m) => ({ name, xi: xi[m]! })),
  models: [2, 0, 1].map((k) => ({
    name: names[k]!,
    embedding: a[k]!,
    scores: told.scores[k]!,
    costs: told.costs[k]!,
  })),
  offline: [
    ...[2, 3, 7].map((i) => ({ text: `query ${i}`, category: i < 6 ? 0 : 1 })),
    { text: "query 99", category: 1 },
  ].map(({ text, category }) => ({ id: text, sha256: textChecksum(text), category })),
  files: {},
};

function calibrated(dataset: Dataset, bundle = BUNDLE): Dataset {
  const queries = dataset.queries.map((query) => ({ ...query, text: `query ${query.id}` }));
  const texts = { ...dataset, queries };
  return { ...texts, calibration: calibrationOf(bundle, texts, "bundle") };
}

function poolOf(dataset: Dataset, settings: Partial<Settings>): Pool {
  return world(dataset, { rounds: 5, ...settings }).pool;
}

const BUNDLED = { told: { kind: "bundle" } } as const;

describe("an environment with a calibration bundle", () => {
  it("never streams the bundle's offline queries, which are found by their texts", () => {
    const dataset = calibrated(TABLED);
    expect(dataset.calibration!.offline).toEqual([[2, 3], [7]]);
    const environment = world(dataset, { rounds: 14, ...BUNDLED });
    const ids = Array.from({ length: 14 }, (_, t) => Number(environment.at(t).query.id));
    expect([...new Set(ids)].sort()).toEqual([0, 1, 4, 5, 6, 8, 9]);
    expect(splitOf(dataset, 5)).toEqual([
      { category: "x", queries: 6, offline: 2 },
      { category: "y", queries: 4, offline: 1 },
    ]);
  });

  it("tells the bundle's scores, costs, categories and embeddings, models in the data's order", () => {
    const pool = poolOf(calibrated(TABLED), BUNDLED);
    expect(pool.categories).toEqual(["x", "y"]);
    expect(pool.centroids).toEqual(xi);
    expect(pool.told).toEqual(told.scores);
    expect(pool.costs).toEqual(told.costs);
    expect(pool.fitted).toEqual(a);
    // Joint labels: model a is best in x, c in y, b nowhere.
    const labels = labelEmbeddings(3, [
      { x: xi[0]!, best: [0], weight: 2 },
      { x: xi[1]!, best: [2], weight: 2 },
    ]);
    expect(pool.labels).toEqual(labels);
  });

  it("keeps a category that only the data or only the bundle has", () => {
    const renamed = calibrated({ ...TABLED, categories: ["x", "z"] });
    expect(poolOf(renamed, BUNDLED).categories).toEqual(["x", "y"]);
    expect(world(renamed, { rounds: 5, ...BUNDLED }).at(0).utilities.length).toBe(3);
  });

  it("recomputes a_k if other scores are told, so that a_k reveals no more than they do", () => {
    const dataset = calibrated(TABLED);
    const csv = poolOf(dataset, { told: { kind: "scores" } });
    expect(csv.told).toEqual(TABLED.scores!.perf);
    expect(csv.fitted).toEqual(weighModels(settings, { ...told, scores: csv.told! }, xi, []));
    const permuted = poolOf(dataset, { told: { kind: "permuted" } });
    expect(permuted.told).not.toEqual(told.scores);
    expect(new Set(permuted.told)).toEqual(new Set(told.scores));
    expect(permuted.fitted).not.toEqual(a);
    const none = poolOf(dataset, { told: { kind: "none" } });
    expect([none.told, none.fitted, none.labels]).toEqual([undefined, undefined, undefined]);
    const offline = poolOf(dataset, { told: { kind: "offline" } });
    expect(offline.told).toEqual(TABLED.scores!.perf);
    const dear = poolOf(dataset, { ...BUNDLED, lambda: 0.1 });
    expect(dear.told![0]).toEqual(at(0.8 - 0.1, 0.3 - 0.2));
  });

  it("uses embeddings made from labels unchanged", () => {
    const settings = { ...BUNDLE.settings, weighting: "labels" as const };
    const dataset = calibrated(SCORED, { ...BUNDLE, settings });
    expect(poolOf(dataset, BUNDLED)).toMatchObject({ fitted: a, labels: a });
    const permuted = poolOf(dataset, { told: { kind: "permuted" } });
    expect(permuted.fitted).toEqual(permuted.labels);
    expect(permuted.fitted).not.toEqual(a);
  });

  it("uses embeddings made in another way unchanged", () => {
    const { calibration, ...dataset } = calibrated(TABLED);
    const { weighting: _, ...standing } = calibration!;
    const given = { ...dataset, calibration: { ...standing, embeddings: xi.concat(xi[0]!) } };
    expect(poolOf(given, BUNDLED).fitted).toEqual([...xi, xi[0]]);
  });

  it("refuses a model that the bundle does not have", () => {
    const models = ["a", "b", "d"];
    expect(() => calibrated({ ...TABLED, models })).toThrow(
      errorText(/^bundle: has no model "d", which the data has; hint: .*--exclude d/),
    );
  });
});
