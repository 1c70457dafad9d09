/**
 * Aliases of routers. A star stands for any characters. If several aliases fit a name, the most specific one
 * decides: the one with the most characters besides stars, and an alias without a star before all others.
 */

/** Whether an alias fits a name. */
export function matches(alias: string, name: string): boolean {
  const [head = "", ...rest] = alias.split("*");
  if (rest.length === 0) return alias === name;
  const tail = rest.pop()!;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - tail.length;
}

/** Rank of an alias among those that fit the same name; the highest decides. */
export function specificity(alias: string): number {
  return alias.includes("*") ? alias.replaceAll("*", "").length : Number.POSITIVE_INFINITY;
}

/** Whether some name fits both aliases, and neither is more specific. */
export function areAmbiguous(a: string, b: string): boolean {
  return specificity(a) === specificity(b) && overlap(a, b, 0, 0, new Set());
}

/**
 * Whether a text fits the rest of `a` from `i` and the rest of `b` from `j`. `tried` has the places that did not fit.
 */
function overlap(a: string, b: string, i: number, j: number, tried: Set<number>): boolean {
  if (i === a.length && j === b.length) return true;
  const place = i * (b.length + 1) + j;
  if (tried.has(place)) return false;
  tried.add(place);
  const isStar = { a: a[i] === "*", b: b[j] === "*" };
  if (isStar.a || isStar.b) {
    // A star ends here, or it also stands for the next character of the other alias.
    return (
      (isStar.a && overlap(a, b, i + 1, j, tried)) ||
      (isStar.b && overlap(a, b, i, j + 1, tried)) ||
      (isStar.a && j < b.length && overlap(a, b, i, j + 1, tried)) ||
      (isStar.b && i < a.length && overlap(a, b, i + 1, j, tried))
    );
  }
  return a[i] === b[j] && i < a.length && overlap(a, b, i + 1, j + 1, tried);
}
