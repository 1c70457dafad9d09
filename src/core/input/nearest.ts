/**
 * Returns the known name that was most likely meant, or undefined. A known name counts as
 * meant if the edit distance is at most 1 or a third of its length, and below half of its
 * length.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((other) => editDistance(name.toLowerCase(), other.toLowerCase()));
  const smallest = Math.min(...distances);
  const found = known[distances.indexOf(smallest)];
  if (found === undefined || 2 * smallest >= found.length) return undefined;
  return smallest <= Math.max(1, found.length / 3) ? found : undefined;
}

/** Returns `did you mean "joust"? `, or an empty string. Hints put it before the list of known names. */
export function didYouMean(name: string, known: readonly string[]): string {
  const found = nearest(name, known);
  return found === undefined ? "" : `did you mean "${found}"? `;
}

/** Counts the letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => {
    const row = new Array<number>(b.length + 1).fill(i);
    if (i === 0) for (let j = 0; j <= b.length; j++) row[j] = j;
    return row;
  });
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = cost;
    }
  }
  return rows[a.length]![b.length]!;
}
