import { InputError } from "../../input/input-error.ts";
import type { ModelFolder } from "../transformer/model/model-folder.ts";
import { principalAxes, project } from "./principal-axes.ts";
import { quantize, type StaticTable } from "./static-table.ts";
import { tokenFrequencies } from "./token-frequency.ts";
import { tokenVectors } from "./token-vectors.ts";

export const DISTILL = {
  /** Of the vectors: half of MiniLM's and more bring a point at most. */
  dimension: 256,
  /** Of the spectrum, as in `project`: 3/4 of the way to whitening. */
  flatten: 3,
};

/**
 * A static encoder from a transformer: the vectors of its tokens, reduced to
 * their principal axes. Axes and mean are taken over tokens as they are met
 * (Zipf's law), not over the vocabulary as it is listed, half of which hardly
 * ever occurs. No text is needed, and equal models give equal bytes everywhere.
 * What else was tried: docs/encoders.md.
 */
export function distill(
  { architecture, weights, tokenizer, name, path }: ModelFolder,
  { dimension, flatten } = DISTILL,
): StaticTable {
  if (dimension > architecture.hiddenSize) {
    throw new InputError(
      { file: path },
      `has vectors of ${architecture.hiddenSize} numbers, fewer than the ${dimension} asked for`,
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
    ...quantize(evened(projected, dimension), dimension),
  };
}

/** Scaled so that components have a root mean square of 1, which a learning rate can refer to. */
function evened(vectors: Float64Array, dimension: number): Float64Array {
  let sum = 0;
  for (let start = 0; start < vectors.length; start += dimension) {
    let squares = 0;
    for (let i = start; i < start + dimension; i++) squares += vectors[i]! * vectors[i]!;
    sum += Math.sqrt(squares / dimension);
  }
  const mean = sum / (vectors.length / dimension);
  return vectors.map((value) => value / mean);
}
