import { describe, expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { dot, norm, normalized } from "../linalg/linalg.ts";
import { Random } from "../random/random.ts";
import {
  categoryFeatures,
  categoryMembership,
  createFeatures,
  difference,
  embeddingsOf,
  FEATURE_DEFAULTS,
  type FeatureOptions,
  type Features,
  fillUnknown,
} from "./features.ts";
import type { Pool } from "./policy.ts";
import { categoryWeights, modelEmbeddings } from "./weighting.ts";
import { CATEGORIES, PRINTED, readScores } from "./weighting-table.fixture.ts";

const MODELS = Object.keys(PRINTED);
const K = MODELS.length;
const M = CATEGORIES.length;
const SIZE = 384;
const random = Random.seeded(1);
const { perf, cost } = readScores(MODELS);
const pool: Pool = {
  models: MODELS,
  categories: CATEGORIES,
  centroids: CATEGORIES.map(() => unitVector()),
  told: perf,
  costs: cost,
};
const queries = Array.from({ length: 20 }, () => unitVector());
const options = (changed: Partial<FeatureOptions> = {}) => ({ ...FEATURE_DEFAULTS, ...changed });

describe("the paper's features", () => {
  it.each(["hadamard", "addition"])(
    "%s: phi is the normalised combination of x and a_k",
    (kind) => {
      const features = createFeatures(pool, options({ features: kind, weighting: "perf" }));
      const a = modelEmbeddings(categoryWeights("perf", perf, cost), pool.centroids);
      const x = queries[0]!;
      rowsOf(features, x).forEach((row, k) => {
        const combined = x.map((value, i) =>
          kind === "hadamard" ? value * a[k]![i]! : value + a[k]![i]!,
        );
        expect(farthest(row, normalized(combined))).toBeLessThan(1e-15);
      });
    },
  );

  it.each([
    { features: "hadamard", zero: 0 },
    { features: "addition", zero: 1 },
  ])("$features: every phi has length 1, or $zero where excel_mask leaves a_k at zero", (kind) => {
    const features = createFeatures(pool, options({ ...kind, weighting: "excel_mask" }));
    const empty = embeddingsOf(pool, options({ weighting: "excel_mask" })).map(
      (a) => norm(a) === 0,
    );
    expect(empty.filter(Boolean)).toHaveLength(4);
    for (const x of queries) {
      rowsOf(features, x).forEach((row, k) => {
        expect(norm(row)).toBeCloseTo(empty[k] ? kind.zero : 1, 14);
      });
    }
  });

  it("hadamard does not depend on the length of x; a zero query gives 0, never NaN", () => {
    for (const metadata of ["none", "scaled"]) {
      const features = createFeatures(pool, options({ metadata }));
      const x = queries[0]!;
      const longer = features.rows(x.map((value) => 8 * value));
      expect(farthest(features.rows(x), longer)).toBeLessThan(1e-14);
      expect(features.rows(new Float64Array(SIZE)).every((value) => value === 0)).toBe(true);
    }
  });

  it("has prior mean 0 and the same prior sd for all coefficients", () => {
    const features = createFeatures(pool, options({ sd: 2 }));
    expect(features.dimension).toBe(SIZE);
    expect(features.priorSd).toEqual(new Float64Array(SIZE).fill(2));
    expect(features.priorMean).toEqual(new Float64Array(SIZE));
  });

  it("rejects an x of another dimension, and unknown names", () => {
    for (const features of ["hadamard", "category"]) {
      const made = createFeatures(pool, options({ features }));
      expect(() => made.rows(new Float64Array(SIZE - 1))).toThrow(/383 numbers.*384/);
    }
    expect(() => createFeatures(pool, options({ features: "product" }))).toThrow(
      errorText(/hint: give .* one of/),
    );
    expect(() => createFeatures(pool, options({ weighting: "best" }))).toThrow(
      errorText(/hint: give .* one of/),
    );
    expect(() => createFeatures(pool, options({ metadata: "all" }))).toThrow(
      errorText(/hint: give .* one of/),
    );
  });
});

describe("metadata", () => {
  /** The mean share of |phi|^2 that is due to the query, over models and queries. */
  const queryShare = (features: Features) => {
    const shares = queries.flatMap((x) =>
      rowsOf(features, x).map((row) => norm(row.subarray(0, SIZE)) ** 2 / norm(row) ** 2),
    );
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  };
  const withMetadata = (metadata: string, weighting = "perf") =>
    createFeatures(pool, options({ metadata, weighting }));

  it("raw metadata dominates phi, scaled metadata leaves the query about half of its squared length", () => {
    expect(queryShare(withMetadata("raw"))).toBeLessThan(0.002);
    expect(queryShare(withMetadata("scaled"))).toBeGreaterThan(0.4);
    expect(queryShare(withMetadata("scaled"))).toBeLessThan(0.6);
    expect(queryShare(withMetadata("none"))).toBe(1);
  });

  it("raw appends Perf and Cost of every category as they are", () => {
    const features = withMetadata("raw");
    expect(features.dimension).toBe(SIZE + 2 * M);
    rowsOf(features, queries[0]!).forEach((row, k) => {
      const appended = Float64Array.from([...perf[k]!, ...cost[k]!]);
      expect(farthest(normalized(row.subarray(SIZE)), normalized(appended))).toBeLessThan(1e-14);
    });
  });

  it("scaled: a column that is the same for all models becomes 0", () => {
    const flat = perf.map((row) => row.map((score, m) => (m === 2 ? 0.5 : score)));
    const features = createFeatures({ ...pool, told: flat }, options({ metadata: "scaled" }));
    for (const row of rowsOf(features, queries[0]!)) expect(row[SIZE + 2]).toBe(0);
  });

  it("has only Perf without costs, and nothing without told scores", () => {
    const all = options({ metadata: "scaled" });
    expect(createFeatures({ ...pool, costs: undefined }, all).dimension).toBe(SIZE + M);
    expect(createFeatures({ ...pool, told: undefined }, all).dimension).toBe(SIZE);
  });
});

describe("embeddingsOf", () => {
  const cosine = (a: readonly Float64Array[]) => {
    let sum = 0;
    for (let i = 0; i < K; i++) {
      for (let j = 0; j < i; j++) sum += dot(normalized(a[i]!), normalized(a[j]!));
    }
    return sum / ((K * (K - 1)) / 2);
  };

  it("centred spreads nearly parallel embeddings apart and keeps their length", () => {
    const settings = options({ weighting: "perf" });
    const plain = embeddingsOf(pool, settings);
    const centred = embeddingsOf(pool, { ...settings, centred: true });
    expect(cosine(plain)).toBeGreaterThan(0.95);
    expect(cosine(centred)).toBeLessThan(0.1);
    const length = plain.reduce((sum, row) => sum + norm(row) / K, 0);
    for (const row of centred) expect(norm(row)).toBeCloseTo(length, 12);
  });

  it("takes the embeddings of a calibration bundle for `fitted`, and throws if there is none", () => {
    const fitted = MODELS.map(() => unitVector());
    const a = embeddingsOf({ ...pool, fitted }, options({ weighting: "fitted" }));
    expect(a).toEqual(fitted);
    expect(a[0]).not.toBe(fitted[0]);
    expect(embeddingsOf({ ...pool, fitted }, options())).toEqual(embeddingsOf(pool, options()));
    expect(() => embeddingsOf(pool, options({ weighting: "fitted" }))).toThrow(
      errorText(/no calibration bundle; hint/),
    );
    // Without told scores, the embeddings must not reveal the scores of a bundle.
    const untold = { ...pool, told: undefined };
    const none = embeddingsOf(untold, options({ weighting: "fitted" }));
    expect(none).toEqual(embeddingsOf(untold, options()));
  });

  it("takes the labels of eq. 6 for `labels`, and if no scores are told", () => {
    const labels = MODELS.map(() => unitVector());
    const labelled = { ...pool, labels };
    expect(embeddingsOf(labelled, options({ weighting: "labels" }))).toEqual(labels);
    expect(embeddingsOf({ ...labelled, told: undefined }, options())).toEqual(labels);
    expect(embeddingsOf(labelled, options({ weighting: "labels" }))[0]).not.toBe(labels[0]);
  });

  it("without told scores, each name has its own direction, also in another pool", () => {
    const untold = { ...pool, told: undefined };
    const a = embeddingsOf(untold, options());
    for (const row of a) expect(norm(row)).toBeCloseTo(1, 14);
    expect(Math.abs(cosine(a))).toBeLessThan(0.05);
    const fewer = embeddingsOf({ ...untold, models: MODELS.slice(3) }, options());
    expect(fewer).toEqual(a.slice(3));
  });
});

describe("unknown scores", () => {
  const holes = perf.map((row, k) =>
    row.map((score, m) => (m === 0 || k === m ? Number.NaN : score)),
  );

  it("become the mean of the known scores of the category, or 0 if none is known", () => {
    const filled = fillUnknown(holes);
    expect(filled.map((row) => row[0])).toEqual(MODELS.map(() => 0));
    const known = perf.flatMap((row, k) => (k === 3 ? [] : [row[3]!]));
    const mean = known.reduce((sum, score) => sum + score, 0) / known.length;
    expect(filled[3]![3]).toBeCloseTo(mean, 14);
    expect(filled[2]![3]).toBe(perf[2]![3]);
    expect(holes[3]![3]).toBeNaN();
  });

  it.each(["hadamard", "addition", "category"])("leave no NaN in the %s features", (kind) => {
    for (const metadata of ["raw", "scaled", "none"]) {
      const all = options({ features: kind, metadata });
      const features = createFeatures({ ...pool, told: holes }, all);
      for (const x of queries) expect(features.rows(x).every(Number.isFinite)).toBe(true);
    }
  });
});

describe("category features", () => {
  const features = categoryFeatures(pool);
  const membership = categoryMembership(pool.centroids);

  it("consist of K blocks and the told score; the block of model k is w(x), the others are 0", () => {
    expect(features.dimension).toBe(K * M + 1);
    for (const x of queries) {
      const w = membership(x);
      rowsOf(features, x).forEach((row, k) => {
        for (let block = 0; block < K; block++) {
          const held = row.subarray(block * M, (block + 1) * M);
          expect(held).toEqual(block === k ? w : new Float64Array(M));
        }
        expect(row[K * M]).toBe(dot(w, perf[k]!));
      });
    }
  });

  it("trust the told scores: prior mean 1 for the last coefficient, 0 for the others", () => {
    expect([...features.priorMean]).toEqual([...new Float64Array(K * M), 1]);
    expect([...features.priorSd]).toEqual([...new Float64Array(K * M).fill(0.15), 0.3]);
  });

  it("end with 0 if no score is told", () => {
    const untold = categoryFeatures({ ...pool, told: undefined });
    for (const row of rowsOf(untold, queries[0]!)) expect(row[K * M]).toBe(0);
  });
});

describe("categoryMembership", () => {
  const membership = categoryMembership(pool.centroids);

  it("sums to 1 and is the same for a longer x", () => {
    for (const x of queries) {
      const w = membership(x);
      expect(w.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 14);
      expect(farthest(membership(x.map((value) => 100 * value)), w)).toBeLessThan(1e-14);
    }
  });

  it("is nearly 1 at the centroid of a category, and uniform for a zero query", () => {
    pool.centroids.forEach((xi, m) => {
      expect(membership(xi)[m]).toBeGreaterThan(0.99);
    });
    expect([...membership(new Float64Array(SIZE))]).toEqual(CATEGORIES.map(() => 1 / M));
  });
});

describe("difference", () => {
  it("is phi_a - phi_b: swapping the pair negates it, and it is 0 for a model with itself", () => {
    const features = categoryFeatures(pool);
    const rows = features.rows(queries[0]!);
    const v = difference(rows, features.dimension, 2, 5);
    const [a, b] = [2, 5].map((k) => rowsOf(features, queries[0]!)[k]!);
    expect(v).toEqual(a!.map((value, i) => value - b![i]!));
    const flipped = difference(rows, features.dimension, 5, 2);
    expect(
      farthest(
        flipped.map((value) => -value),
        v,
      ),
    ).toBe(0);
    expect(norm(difference(rows, features.dimension, 3, 3))).toBe(0);
  });
});

function rowsOf(features: Features, x: Float64Array): Float64Array[] {
  const { models, dimension: d } = features;
  const rows = features.rows(x);
  return Array.from({ length: models }, (_, k) => rows.slice(k * d, (k + 1) * d));
}

function unitVector(): Float64Array {
  return normalized(Float64Array.from({ length: SIZE }, () => random.normal()));
}

function farthest(a: Float64Array, b: Float64Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}
