import { InputError } from "../input/input-error.ts";
import type { OfflineQueries } from "./calibrate.ts";

/** More pairs would take days of training and are probably a mistake. */
const MOST_PAIRS = 1_000_000;

/**
 * Rejects offline queries that fine-tuning cannot learn from. A group of one query
 * is an error, unless queries are grouped by their best model: then nobody chose the
 * groups, and the query still has pairs with other groups.
 */
export function checkOffline(
  file: string,
  { categories, categoryNames }: OfflineQueries,
  groupedByBest: boolean,
): void {
  const sizes = categoryNames.map((_, m) => categories.filter((c) => c === m).length);
  const alone = categoryNames.find((_, m) => sizes[m] === 1);
  if (alone !== undefined && !groupedByBest) {
    throw new InputError(
      { file, field: "category" },
      `"${alone}" has only one query, but fine-tuning needs pairs within a category`,
      `add queries of "${alone}", raise --offline if it is too small, or give --epochs 0`,
    );
  }
  if (sizes.length < 2 || sizes.every((size) => size < 2)) {
    throw new InputError(
      { file, field: "category" },
      sizes.length < 2
        ? `is "${categoryNames[0]}" for all queries, but fine-tuning needs several categories`
        : "differs for every query, so there are no pairs within a category",
      "give at least two categories with at least two queries each, or --epochs 0",
    );
  }
  const pairs = sizes.reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  if (pairs <= MOST_PAIRS) return;
  throw new InputError(
    { file: "--offline" },
    `gives ${pairs} pairs within categories, more than ${MOST_PAIRS}`,
    "lower it: the method needs 5 to 15 queries per category",
  );
}
