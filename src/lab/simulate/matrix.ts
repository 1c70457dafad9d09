/** Embeddings in one block of memory that all threads share, so that they are not copied. */

/** Copies rows into one shared block and returns views of it. */
export function share(rows: readonly Float64Array[]): Float64Array[] {
  const width = rows[0]?.length ?? 0;
  const matrix = new Float64Array(new SharedArrayBuffer(8 * width * rows.length));
  rows.forEach((row, i) => {
    matrix.set(row, i * width);
  });
  return unpack(matrix, rows.length);
}

/** The shared block of the rows; a new one if they are not views of one. */
export function pack(rows: readonly Float64Array[]): Float64Array {
  const first = rows[0];
  if (!first) return new Float64Array(0);
  const { buffer } = first;
  const shared =
    buffer instanceof SharedArrayBuffer &&
    rows.every((row, i) => row.buffer === buffer && row.byteOffset === i * first.byteLength);
  return shared ? new Float64Array(buffer) : pack(share(rows));
}

export function unpack(matrix: Float64Array, rows: number): Float64Array[] {
  const width = matrix.length / rows;
  return Array.from({ length: rows }, (_, i) => matrix.subarray(i * width, (i + 1) * width));
}
