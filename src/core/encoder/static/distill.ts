import { InputError } from "../../input/input-error.ts";
import type { ModelFolder } from "../transformer/model/model-folder.ts";
import { principalAxes, project } from "./principal-axes.ts";
import { quantize, type StaticTable } from "./static-table.ts";
import { tokenFrequencies } from "./token-frequency.ts";
import { tokenVectors } from "./token-vectors.ts";

export const DISTILL = {
  /** Length of the embeddings. More than half of MiniLM's adds at most one point of accuracy. */
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
