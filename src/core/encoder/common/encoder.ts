/** Text to vector. Equal texts give equal vectors; the batch a text is in changes nothing. */
export interface Encoder {
  readonly name: string;
  /** The length of every vector. */
  readonly dimension: number;
  encode(texts: readonly string[]): Promise<Float64Array[]>;
  /** Lets go of threads and memory, where it has any. */
  close?(): Promise<void>;
}
