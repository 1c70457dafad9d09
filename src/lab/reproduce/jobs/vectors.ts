import { sha256 } from "../../jobs/hash.ts";
import type { Context, JobId, Result } from "../../jobs/job.ts";

/** Names of the texts whose vectors are the rows of the matrix. */
interface VectorsValue {
  readonly texts: readonly string[];
}

/** A hash that identifies a text, because texts are not stored. */
function nameOf(text: string): string {
  return sha256(text).slice(0, 20);
}

export function vectorsResult(texts: readonly string[], vectors: readonly Float64Array[]): Result {
  const columns = vectors[0]?.length ?? 0;
  const data = new Float32Array(columns * vectors.length);
  for (const [i, vector] of vectors.entries()) data.set(vector, i * columns);
  return { value: { texts: texts.map(nameOf) } satisfies VectorsValue, matrix: { columns, data } };
}

/** Finds the vector of a text in the results of several jobs. Equal texts give the same object. */
export async function vectorsOf(
  ids: readonly JobId[],
  context: Context,
): Promise<(text: string) => Float64Array> {
  const rows = new Map<string, Float32Array>();
  for (const id of ids) {
    const { value, matrix } = await context.input(id);
    const { columns, data } = matrix!;
    for (const [i, name] of (value as VectorsValue).texts.entries()) {
      rows.set(name, data.subarray(i * columns, (i + 1) * columns));
    }
  }
  const found = new Map<string, Float64Array>();
  return (text) => {
    const known = found.get(text);
    if (known) return known;
    const row = rows.get(nameOf(text));
    if (!row) throw new RangeError(`no vector for ${JSON.stringify(text.slice(0, 60))}`);
    const vector = Float64Array.from(row);
    found.set(text, vector);
    return vector;
  };
}
