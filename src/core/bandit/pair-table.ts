/**
 * Reorders a K x K table of pairs for another list of models. `index` is the position
 * of each model in the table, or -1 for a new model, whose pairs are 0.
 */
export function alignPairs(table: Float64Array, index: readonly number[]): Float64Array {
  const K = index.length;
  const before = Math.sqrt(table.length);
  return Float64Array.from({ length: K * K }, (_, at) => {
    const a = index[Math.floor(at / K)]!;
    const b = index[at % K]!;
    return a < 0 || b < 0 ? 0 : table[a * before + b]!;
  });
}
