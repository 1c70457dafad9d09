/** Turns texts into embeddings. Equal texts have equal embeddings, whatever else is in the batch. */
export interface Encoder {
  readonly name: string;
  /** Length of every embedding. */
  readonly dimension: number;
  encode(texts: readonly string[]): Promise<Float64Array[]>;
  /** Embeds one text at once, if the encoder is fast enough for that. */
  encodeText?(text: string): Float64Array;
  /** Releases threads and memory, if the encoder has any. */
  close?(): Promise<void>;
}
