import type { Architecture } from "../transformer/model/architecture.ts";
import type { Checkpoint } from "../transformer/model/checkpoint.ts";

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
