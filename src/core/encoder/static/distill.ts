import { InputError } from "../../input/input-error.ts";
import { symmetricEigen } from "../../linalg/eigen.ts";
import { dotAt } from "../../linalg/linalg.ts";
import type { Architecture } from "../transformer/model/architecture.ts";
import type { Checkpoint } from "../transformer/model/checkpoint.ts";
import type { ModelFolder } from "../transformer/model/model-folder.ts";
import { quantize, type StaticTable, type StaticTokenizer } from "./static-table.ts";

export const DISTILL = {
  /** Length of the embeddings. More than half of MiniLM's dimension adds at most one point of accuracy. */
  dimension: 256,
  /** Degree to which `project` evens out the variances: 3/4 of the way to whitening. */
  flatten: 3,
};

/**
 * Makes a static encoder from a transformer: the vectors of its tokens, reduced to
 * their principal axes. Mean and axes are weighted by how often tokens occur
 * (Zipf's law), because half of the vocabulary hardly ever occurs. No text is
 * needed, and equal models give equal bytes on every machine. docs/encoders.md
 * lists the alternatives that were tried.
 */
export function distill(
  { architecture, weights, tokenizer, name, path }: ModelFolder,
  { dimension, flatten } = DISTILL,
): StaticTable {
  if (dimension > architecture.hiddenSize) {
    throw new InputError(
      { file: path },
      `has embeddings of ${architecture.hiddenSize} numbers, fewer than --dimension ${dimension}`,
      `give --dimension ${architecture.hiddenSize} or less`,
    );
  }
  const { before: _, after: __, ...settings } = tokenizer.settings;
  const rows = {
    vectors: tokenVectors(architecture, weights, settings.tokens.length),
    d: architecture.hiddenSize,
    weights: tokenFrequencies(settings),
  };
  const projected = project(rows, principalAxes(rows), dimension, flatten);
  return {
    dimension,
    source: name,
    tokenizer: settings,
    ...quantize(rescaled(projected, dimension), dimension),
  };
}

/** Scales the vectors so that a mean vector has components of root mean square 1. Learning rates assume this. */
function rescaled(vectors: Float64Array, dimension: number): Float64Array {
  let sum = 0;
  for (let start = 0; start < vectors.length; start += dimension) {
    let squares = 0;
    for (let i = start; i < start + dimension; i++) squares += vectors[i]! * vectors[i]!;
    sum += Math.sqrt(squares / dimension);
  }
  const mean = sum / (vectors.length / dimension);
  return vectors.map((value) => value / mean);
}

/**
 * Estimates how often each token occurs, without any text. BERT's vocabularies
 * start with special tokens and single characters, followed by words and pieces in
 * the order of falling frequency. Zipf's law with Mandelbrot's offset gives the
 * r-th of these a frequency of 1 / (r + OFFSET). ASCII characters (punctuation,
 * digits) are assumed to be as frequent as the first word and other characters as
 * the last. Placeholders such as [unused7] and [PAD] never occur.
 */
export function tokenFrequencies({ tokens, added }: StaticTokenizer): Float64Array {
  const special = new Set(added.map(({ id }) => id));
  const out = new Float64Array(tokens.length);
  let rank = 0;
  for (const [id, token] of tokens.entries()) {
    if (token === "" || special.has(id) || UNUSED.test(token) || isCharacter(token)) continue;
    out[id] = 1 / (rank++ + OFFSET);
  }
  for (const [id, token] of tokens.entries()) {
    if (special.has(id) || !isCharacter(token)) continue;
    out[id] = 1 / (OFFSET + (token.codePointAt(0)! < 128 ? 0 : rank));
  }
  return out;
}

const OFFSET = 30;
const UNUSED = /^\[unused\d+\]$/;

function isCharacter(token: string): boolean {
  return token.length > 0 && token.length === (token.codePointAt(0)! > 0xffff ? 2 : 1);
}

/**
 * Returns the vector of every token t as it enters the first layer of the text
 * `[CLS] t [SEP]`, one row each: LayerNorm(word + position 1 + type 0). Computed in
 * float64 and plain loops, so that the bits are the same on every machine.
 *
 * The vectors after the last layer, which look like the obvious choice, are far
 * worse: without context a token says little there (see docs/encoders.md).
 */
export function tokenVectors(
  { kind, hiddenSize: d, layerNormEps, padTokenId }: Architecture,
  weights: Checkpoint["weights"],
  tokens: number,
): Float64Array {
  const table = (name: string) => weights.get(`embeddings.${name}`)!.data;
  const words = table("word_embeddings.weight");
  const position = kind === "mpnet" ? padTokenId + 2 : 1;
  const shift = Float64Array.from(
    table("position_embeddings.weight").subarray(position * d, (position + 1) * d),
  );
  if (kind === "bert") {
    const types = table("token_type_embeddings.weight");
    for (let i = 0; i < d; i++) shift[i]! += types[i]!;
  }
  const gamma = table("LayerNorm.weight");
  const beta = table("LayerNorm.bias");
  const out = new Float64Array(tokens * d);
  for (let token = 0; token < tokens; token++) {
    const row = out.subarray(token * d, (token + 1) * d);
    let sum = 0;
    for (let i = 0; i < d; i++) sum += row[i] = words[token * d + i]! + shift[i]!;
    const mean = sum / d;
    let squares = 0;
    for (let i = 0; i < d; i++) squares += (row[i]! - mean) * (row[i]! - mean);
    const spread = Math.sqrt(squares / d + layerNormEps);
    for (let i = 0; i < d; i++) row[i] = ((row[i]! - mean) / spread) * gamma[i]! + beta[i]!;
  }
  return out;
}

/** Row vectors with weights. */
export interface Weighted {
  /** n x d matrix. */
  readonly vectors: Float64Array;
  readonly d: number;
  readonly weights: Float64Array;
}

export interface Axes {
  readonly mean: Float64Array;
  /** One unit vector per row, in the order of falling variance. */
  readonly axes: Float64Array;
  /** Variance along each axis. */
  readonly variances: Float64Array;
}

/** Computes the principal axes of the weighted rows. */
export function principalAxes(rows: Weighted): Axes {
  const mean = weightedMean(rows);
  const { values, vectors } = symmetricEigen(covariance(rows, mean), rows.d);
  return { mean, axes: vectors, variances: values };
}

/**
 * Returns the components of each row along the first k axes. `flatten` evens out
 * the variances: axis i is divided by variance^(flatten / 8), so that 0 changes
 * nothing and 4 makes all variances 1 (whitening). The exponent is in eighths,
 * because square roots give the same bits on every machine and powers do not.
 */
export function project(
  { vectors, d }: Weighted,
  { mean, axes, variances }: Axes,
  k: number,
  flatten: number,
): Float64Array {
  const scaled = axes.slice(0, k * d);
  for (let i = 0; i < k; i++) {
    const root = Math.sqrt(Math.sqrt(Math.sqrt(variances[i]!)));
    for (let power = 0; power < flatten; power++) {
      for (let j = 0; j < d; j++) scaled[i * d + j]! /= root;
    }
  }
  const n = vectors.length / d;
  const out = new Float64Array(n * k);
  const centred = new Float64Array(d);
  for (let row = 0; row < n; row++) {
    for (let j = 0; j < d; j++) centred[j] = vectors[row * d + j]! - mean[j]!;
    for (let i = 0; i < k; i++) out[row * k + i] = dotAt(centred, 0, scaled, i * d, d);
  }
  return out;
}

function weightedMean({ vectors, d, weights }: Weighted): Float64Array {
  const mean = new Float64Array(d);
  let total = 0;
  for (let row = 0; row < weights.length; row++) {
    total += weights[row]!;
    for (let j = 0; j < d; j++) mean[j]! += weights[row]! * vectors[row * d + j]!;
  }
  return mean.map((sum) => sum / total);
}

/** Adds four rows at a time, so that the matrix is read and written a quarter as often. */
function covariance({ vectors, d, weights }: Weighted, mean: Float64Array): Float64Array {
  const out = new Float64Array(d * d);
  const four = Array.from({ length: 4 }, () => new Float64Array(d));
  let total = 0;
  for (let first = 0; first < weights.length; first += 4) {
    for (const [k, x] of four.entries()) {
      const weight = weights[first + k] ?? 0;
      const root = Math.sqrt(weight);
      total += weight;
      const start = (first + k) * d;
      if (weight === 0) x.fill(0);
      else for (let j = 0; j < d; j++) x[j] = root * (vectors[start + j]! - mean[j]!);
    }
    const [p, q, r, s] = four as [Float64Array, Float64Array, Float64Array, Float64Array];
    for (let i = 0; i < d; i++) {
      const [pi, qi, ri, si] = [p[i]!, q[i]!, r[i]!, s[i]!];
      for (let j = 0, at = i * d; j <= i; j++) {
        out[at++]! += pi * p[j]! + qi * q[j]! + (ri * r[j]! + si * s[j]!);
      }
    }
  }
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) out[i * d + j] = out[j * d + i] = out[i * d + j]! / total;
  }
  return out;
}
