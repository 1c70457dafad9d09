import type { Random } from "../random/random.ts";

/** The indices of two offline queries. The label is 1 if they have the same category, else 0. */
export interface Pair {
  readonly a: number;
  readonly b: number;
  readonly label: 0 | 1;
}

/**
 * Returns the training pairs: every pair within a category, and as many pairs
 * across categories, drawn without replacement (all of them if there are fewer).
 * `categories[i]` is the category of query i.
 */
export function pairsOf(categories: readonly number[], random: Random): Pair[] {
  const near: Pair[] = [];
  const apart: Pair[] = [];
  for (let b = 0; b < categories.length; b++) {
    for (let a = 0; a < b; a++) {
      if (categories[a] === categories[b]) near.push({ a, b, label: 1 });
      else apart.push({ a, b, label: 0 });
    }
  }
  return [...near, ...random.shuffle(apart).slice(0, near.length)];
}

/** Returns one epoch: all pairs, shuffled, in batches. The last batch may be smaller. */
export function batchesOf(pairs: readonly Pair[], size: number, random: Random): Pair[][] {
  const order = random.shuffle([...pairs]);
  return Array.from({ length: Math.ceil(order.length / size) }, (_, i) =>
    order.slice(i * size, (i + 1) * size),
  );
}

/** Progress of a training, reported after each step. */
export interface StepProgress {
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly millisecondsLeft: number;
}
