/** A count with its noun: `1 query`, `2 queries`. */
export function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun.replace(/y$/, "ie")}s`;
}
