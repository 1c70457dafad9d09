import { invalidValue } from "../errors/joust-error.ts";
import { dot, norm, normalized } from "../linalg/linalg.ts";
import type { About, Pool } from "./policy.ts";
import { categoryWeights, modelEmbeddings, softmax, WEIGHTINGS } from "./weighting.ts";

/**
 * phi(x, a_k): the features of model k on query x. Every linear policy runs on each of
 * the feature sets:
 *
 * - `hadamard`, `addition`: those of the paper, which combine the query's embedding with the model's.
 * - `category`: ours, one coefficient per model and category, and one for the told score.
 */
export interface Features {
  readonly models: number;
  readonly dimension: number;
  /** Computes phi for all models of the pool: K rows of `dimension` numbers. */
  rows(x: Float64Array): Float64Array;
  /** Prior means and standard deviations of the coefficients at vote scale 1. */
  readonly priorMean: Float64Array;
  readonly priorSd: Float64Array;
}

export const FEATURE_SETS = ["hadamard", "addition", "category"] as const;

const METADATA = ["raw", "scaled", "none"] as const;
type Metadata = (typeof METADATA)[number];

/** The weightings of the paper, and `fitted`: the model embeddings of a calibration bundle. */
const FEATURE_WEIGHTINGS = [...WEIGHTINGS, "fitted"] as const;
type FeatureWeighting = (typeof FEATURE_WEIGHTINGS)[number];

/** Options that all linear policies share. */
export const FEATURE_DEFAULTS = {
  features: "hadamard",
  weighting: "excel_perf_cost",
  metadata: "none",
  temperature: 1,
  centred: false,
  sd: 1,
};
export type FeatureOptions = Readonly<typeof FEATURE_DEFAULTS>;

/** All options but the first apply to the paper's features only. */
export const FEATURE_ABOUT: About<FeatureOptions> = {
  features: {
    meaning:
      "features of a model on a query: product (hadamard) or sum (addition) of the two embeddings, as in the paper, or category: one coefficient per model and category, and one for the told score",
    oneOf: FEATURE_SETS,
  },
  weighting: {
    meaning:
      "how the embedding of a model is made from its told scores and the category embeddings; fitted takes it from the calibration bundle",
    oneOf: FEATURE_WEIGHTINGS,
  },
  metadata: {
    meaning: "whether told scores and costs are appended to the features: raw, scaled or none",
    oneOf: METADATA,
  },
  temperature: {
    meaning: "temperature of the softmax in the weighting; fitted has its own",
    above: 0,
  },
  centred: {
    meaning:
      "whether the mean of the model embeddings is subtracted from each, which spreads them apart",
  },
  sd: {
    meaning: "prior standard deviation of a coefficient of the paper's features, at vote scale 1",
    above: 0,
  },
};

export function createFeatures(pool: Pool, options: FeatureOptions): Features {
  checkName("features", options.features, FEATURE_SETS);
  checkName("weighting", options.weighting, FEATURE_WEIGHTINGS);
  checkName("metadata", options.metadata, METADATA);
  if (options.features === "category") return categoryFeatures(pool);
  return paperFeatures(pool, options);
}

function checkName(option: string, value: string, names: readonly string[]): void {
  if (names.includes(value)) return;
  throw invalidValue(`${option} is ${value}`, `give ${option} one of ${names.join(", ")}`);
}

/**
 * The features of the paper (section 5.1): phi(x, a) = normalize(x o a), or
 * normalize(x + a). With metadata (Perf and Cost of every category), these are
 * appended to a, and ones to x: normalize([x o a, meta]). Raw metadata outweighs the
 * query: |x o a| is about 0.06 at d = 768, |meta| is 1.6 to 31. `scaled` z-scores
 * each column over the models and scales the block to the mean |x o a|.
 */
function paperFeatures(pool: Pool, options: FeatureOptions): Features {
  const K = pool.models.length;
  const a = embeddingsOf(pool, options);
  const size = a[0]!.length;
  const meta = metadataOf(pool, options.metadata as Metadata);
  const extra = meta?.[0]?.length ?? 0;
  const dimension = size + extra;
  const addition = options.features === "addition";
  const rows = (x: Float64Array) => {
    checkLength(x, size);
    const out = new Float64Array(K * dimension);
    let typical = 0;
    for (let k = 0; k < K; k++) {
      const row = out.subarray(k * dimension, k * dimension + size);
      const ak = a[k]!;
      for (let i = 0; i < size; i++) row[i] = addition ? x[i]! + ak[i]! : x[i]! * ak[i]!;
      typical += norm(row) / K;
    }
    for (let k = 0; k < K; k++) {
      const row = out.subarray(k * dimension, (k + 1) * dimension);
      for (let i = 0; i < extra; i++) {
        row[size + i] = meta![k]![i]! * (options.metadata === "scaled" ? typical : 1);
      }
      const length = norm(row);
      if (length > 0) for (let i = 0; i < dimension; i++) row[i]! /= length;
    }
    return out;
  };
  return {
    models: K,
    dimension,
    rows,
    priorMean: new Float64Array(dimension),
    priorSd: new Float64Array(dimension).fill(options.sd),
  };
}

function checkLength(x: Float64Array, size: number): void {
  if (x.length === size) return;
  throw new RangeError(
    `x has ${x.length} numbers, but the centroids of the categories have ${size}`,
  );
}

/** Returns the model embeddings a_k of a weighting, centred over the models if the option says so. */
export function embeddingsOf(
  pool: Pool,
  options: Pick<FeatureOptions, "weighting" | "temperature" | "centred">,
): Float64Array[] {
  let a = weigh(pool, options.weighting as FeatureWeighting, options.temperature);
  if (options.centred) {
    const size = a[0]!.length;
    const typical = a.reduce((sum, row) => sum + norm(row), 0) / a.length;
    const middle = Float64Array.from({ length: size }, (_, i) =>
      a.reduce((sum, row) => sum + row[i]! / a.length, 0),
    );
    a = a.map((row) => {
      const centred = normalized(row.map((value, i) => value - middle[i]!));
      return centred.map((value) => value * typical);
    });
  }
  return a;
}

function weigh(pool: Pool, weighting: FeatureWeighting, temperature: number): Float64Array[] {
  if (weighting === "fitted" && pool.told) return fittedEmbeddings(pool);
  if (weighting !== "labels" && weighting !== "fitted" && pool.told) {
    const perf = fillUnknown(pool.told);
    return modelEmbeddings(
      categoryWeights(weighting, perf, pool.costs, { temperature }),
      pool.centroids,
    );
  }
  if (pool.labels) return pool.labels.map((row) => row.slice());
  // No score is told: models differ only by name, so each name gets a direction of its own.
  return pool.models.map((name) => hashDirection(name, pool.centroids[0]!.length));
}

function fittedEmbeddings({ fitted }: Pool): Float64Array[] {
  if (fitted) return fitted.map((row) => row.slice());
  throw invalidValue(
    "weighting is fitted, but there is no calibration bundle",
    "give a bundle made by joust fit, or another weighting",
  );
}

/** Replaces unknown scores by the mean of the known scores of the category. */
export function fillUnknown(table: readonly Float64Array[]): Float64Array[] {
  const M = table[0]?.length ?? 0;
  const middle = Array.from({ length: M }, (_, m) => {
    const known = table.map((row) => row[m]!).filter((score) => !Number.isNaN(score));
    return known.length > 0 ? known.reduce((sum, score) => sum + score, 0) / known.length : 0;
  });
  return table.map((row) => row.map((score, m) => (Number.isNaN(score) ? middle[m]! : score)));
}

/**
 * phi(x, a_k) = normalize(x' o a'_k) of the hadamard features: a'_k is a_k with its metadata,
 * and x' is x, extended for the metadata by ones or, if they are scaled, by the mean |x o a|.
 * `extend` is undefined without metadata.
 */
export function hadamardFactors(
  pool: Pool,
  options: FeatureOptions,
): { a: Float64Array[]; extend: ((x: Float64Array) => Float64Array) | undefined } {
  const a = embeddingsOf(pool, options);
  const meta = metadataOf(pool, options.metadata as Metadata);
  if (!meta) return { a, extend: undefined };
  const size = a[0]!.length;
  const typical = (x: Float64Array) =>
    a.reduce((sum, row) => sum + norm(x.map((value, i) => value * row[i]!)) / a.length, 0);
  return {
    a: a.map((row, k) => Float64Array.of(...row, ...meta[k]!)),
    extend: (x) => {
      const out = new Float64Array(size + meta[0]!.length);
      out.set(x);
      return out.fill(options.metadata === "scaled" ? typical(x) : 1, size);
    },
  };
}

function metadataOf(pool: Pool, metadata: Metadata): Float64Array[] | undefined {
  if (metadata === "none" || !pool.told) return undefined;
  const perf = fillUnknown(pool.told);
  const block = perf.map((row, k) => {
    const cost = pool.costs?.[k] ?? new Float64Array(0);
    return Float64Array.from([...row, ...cost]);
  });
  return metadata === "raw" ? block : zScored(block);
}

/** Scales each column to mean 0 and sd 1 over the models, then the rows to mean length 1. */
function zScored(block: Float64Array[]): Float64Array[] {
  const K = block.length;
  const out = block.map((row) => row.slice());
  for (let i = 0; i < block[0]!.length; i++) {
    const middle = block.reduce((sum, row) => sum + row[i]! / K, 0);
    const sd = Math.sqrt(block.reduce((sum, row) => sum + (row[i]! - middle) ** 2 / K, 0));
    // The sd of a constant column is a rounding error, not 0.
    const varies = sd > 1e-9 * Math.abs(middle);
    for (const row of out) row[i] = varies ? (row[i]! - middle) / sd : 0;
  }
  const typical = out.reduce((sum, row) => sum + norm(row) / K, 0);
  return typical > 0 ? out.map((row) => row.map((value) => value / typical)) : out;
}

function hashDirection(name: string, size: number): Float64Array {
  const out = new Float64Array(size);
  let hash = 2166136261;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < name.length; j++) {
      hash = Math.imul(hash ^ (name.charCodeAt(j) + i), 16777619);
    }
    out[i] = (hash >>> 0) / 2 ** 31 - 1;
  }
  return normalized(out);
}

/**
 * Our features, d = K M + 1: phi_k = [e_k (x) w(x); sum_m w_m told_km] with
 * w(x) = softmax(cos(x, xi_m) / 0.1). The prior trusts the told scores: the last
 * coefficient has mean 1 (times the vote scale), the others have mean 0.
 */
export function categoryFeatures(pool: Pool): Features {
  const K = pool.models.length;
  const M = pool.categories.length;
  const dimension = K * M + 1;
  const weights = categoryMembership(pool.centroids);
  const told = pool.told && fillUnknown(pool.told);
  const rows = (x: Float64Array) => {
    const w = weights(x);
    const out = new Float64Array(K * dimension);
    for (let k = 0; k < K; k++) {
      out.set(w, k * dimension + k * M);
      out[k * dimension + K * M] = told ? dot(w, told[k]!) : 0;
    }
    return out;
  };
  const priorMean = new Float64Array(dimension);
  const priorSd = new Float64Array(dimension).fill(0.15);
  priorMean[K * M] = 1;
  priorSd[K * M] = 0.3;
  return { models: K, dimension, rows, priorMean, priorSd };
}

/** Returns a function that computes w(x), the membership of a query in the categories. */
export function categoryMembership(
  centroids: readonly Float64Array[],
  temperature = 0.1,
): (x: Float64Array) => Float64Array {
  const xi = centroids.map(normalized);
  return (x) => {
    if (xi[0]) checkLength(x, xi[0].length);
    const cosines = new Float64Array(xi.length);
    const length = norm(x) || 1;
    for (let m = 0; m < xi.length; m++) cosines[m] = dot(x, xi[m]!) / length;
    return softmax(cosines, temperature);
  };
}

/** Computes v = phi_a - phi_b from the rows of all models. */
export function difference(
  rows: Float64Array,
  dimension: number,
  a: number,
  b: number,
): Float64Array {
  const v = new Float64Array(dimension);
  for (let i = 0; i < dimension; i++) v[i] = rows[a * dimension + i]! - rows[b * dimension + i]!;
  return v;
}
