import type { WordPieceSettings } from "../tokenizer/tokenizer-json.ts";

/** The data of a static encoder: a tokenizer and one vector per token, in 8 bits with a scale per row. */
export interface StaticTable {
  readonly dimension: number;
  /** Name of the model that it was made from. */
  readonly source: string;
  readonly tokenizer: StaticTokenizer;
  /** Row i times scales[i] is the vector of token i. */
  readonly rows: Int8Array;
  readonly scales: Float32Array;
}

/** A tokenizer without the special tokens around a text, which say nothing about the text. */
export type StaticTokenizer = Omit<WordPieceSettings, "before" | "after">;

export function vectorOf({ rows, scales, dimension }: StaticTable, token: number): Float64Array {
  const scale = scales[token]!;
  return Float64Array.from(
    rows.subarray(token * dimension, (token + 1) * dimension),
    (value) => scale * value,
  );
}

/** Quantizes rows to 8 bits. The error is at most 1/254 of the row's largest component. */
export function quantize(
  vectors: Float64Array,
  dimension: number,
): Pick<StaticTable, "rows" | "scales"> {
  const rows = new Int8Array(vectors.length);
  const scales = new Float32Array(vectors.length / dimension);
  for (let row = 0; row < scales.length; row++) {
    const start = row * dimension;
    let largest = 0;
    for (let i = start; i < start + dimension; i++) {
      largest = Math.max(largest, Math.abs(vectors[i]!));
    }
    if (largest === 0) continue;
    scales[row] = largest / 127;
    for (let i = start; i < start + dimension; i++) {
      rows[i] = Math.round((127 * vectors[i]!) / largest);
    }
  }
  return { rows, scales };
}
