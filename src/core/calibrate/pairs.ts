import type { Random } from "../random/random.ts";

/** Two offline queries, and whether they should be near (1: of one category) or apart (0). */
export interface Pair {
  readonly a: number;
  readonly b: number;
  readonly label: 0 | 1;
}

/**
 * What the contrastive fine-tuning learns from: every pair within a category,
 * and as many pairs across categories, drawn without replacement (all of them
 * where there are fewer). `categories[i]` is the category of query i.
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

/** One epoch: all pairs, shuffled, in batches; the last may be smaller. */
export function batchesOf(pairs: readonly Pair[], size: number, random: Random): Pair[][] {
  const order = random.shuffle([...pairs]);
  return Array.from({ length: Math.ceil(order.length / size) }, (_, i) =>
    order.slice(i * size, (i + 1) * size),
  );
}
