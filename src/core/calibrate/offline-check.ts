import { InputError } from "../input/input-error.ts";
import type { OfflineQueries } from "./calibrate.ts";

/** More pairs than this are days of training: a mistake more likely than a wish. */
const MOST_PAIRS = 1_000_000;

/**
 * Refuses offline queries that fine-tuning can learn nothing from. Where queries
 * are grouped by their best model, which nobody chose, one query alone is fine:
 * it has pairs with the others.
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
      `"${alone}" has one query only, and fine-tuning needs pairs of a category`,
      `add queries of "${alone}", raise --offline where that is why, or give --epochs 0`,
    );
  }
  if (sizes.length < 2 || sizes.every((size) => size < 2)) {
    throw new InputError(
      { file, field: "category" },
      sizes.length < 2
        ? `is "${categoryNames[0]}" throughout, so there is nothing to tell apart`
        : "groups the queries one by one, so there are no pairs",
      "give queries of two categories or more, two of each at least, or --epochs 0",
    );
  }
  const pairs = sizes.reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  if (pairs <= MOST_PAIRS) return;
  throw new InputError(
    { file: "--offline" },
    `makes ${pairs} pairs within categories, more than ${MOST_PAIRS}`,
    "lower it: 5 to 15 queries a category is what the method needs",
  );
}
