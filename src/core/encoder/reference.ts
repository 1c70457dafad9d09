/** An encoder as named by `--encoder` and joust.yaml: a name or folder, and `:int8` for its 8-bit version. */
export interface Reference {
  readonly base: string;
  /** Dense layers in 8 bits: two to three times as fast; the embeddings have a cosine of 0.993 to float32. */
  readonly int8: boolean;
}

const INT8 = ":int8";

export function readReference(text: string): Reference {
  const int8 = text.endsWith(INT8);
  return { base: int8 ? text.slice(0, -INT8.length) : text, int8 };
}

export function referenceText({ base, int8 }: Reference): string {
  return int8 ? `${base}${INT8}` : base;
}
