import type { Stats, Truth } from "../../../src/client.ts";

/** Estimated and true quality of a model in a category, both relative to the mean of the category and as votes show them. */
export interface Comparison {
  readonly model: string;
  readonly category: string;
  readonly truth: number;
  readonly estimate: number;
  readonly lo: number | null;
  readonly hi: number | null;
}

export function compare(
  { categories, models, visible }: Truth,
  { leaderboard }: Stats,
): Comparison[] {
  return leaderboard.categories.flatMap(({ category, models: standings }) => {
    const k = categories.indexOf(category);
    // The pool may contain only some of the sandbox's models.
    const known = standings.flatMap((standing) => {
      const quality = models.find(({ model }) => model === standing.model)?.quality[k];
      return quality === undefined ? [] : [{ ...standing, quality }];
    });
    const middle = mean(known.map(({ quality }) => quality));
    return known.map(({ model, quality, value, lo, hi }) => ({
      model,
      category,
      truth: visible * (quality - middle),
      estimate: value,
      lo,
      hi,
    }));
  });
}

export interface Agreement {
  readonly categories: number;
  /** Number of categories whose estimated best model is the true best, or nearly as good. */
  readonly best: number;
  readonly correlation: number;
  /** Share of the true values inside their intervals; null if there are no intervals. */
  readonly covered: number | null;
}

export function agreement(pairs: readonly Comparison[]): Agreement | undefined {
  if (pairs.length === 0) return undefined;
  const groups = [...Map.groupBy(pairs, ({ category }) => category).values()];
  const best = groups.filter((group) => {
    const chosen = group.reduce((a, b) => (b.estimate > a.estimate ? b : a));
    return chosen.truth >= Math.max(...group.map(({ truth }) => truth)) - NEARLY;
  });
  const withInterval = pairs.filter(({ lo }) => lo !== null);
  const inside = withInterval.filter(({ truth, lo, hi }) => truth >= lo! && truth <= hi!);
  return {
    categories: groups.length,
    best: best.length,
    correlation: correlation(pairs),
    covered: withInterval.length === 0 ? null : inside.length / withInterval.length,
  };
}

/** A difference in quality too small to matter. */
const NEARLY = 0.02;

function correlation(pairs: readonly Comparison[]): number {
  const [x, y] = [mean(pairs.map((p) => p.truth)), mean(pairs.map((p) => p.estimate))];
  let [xy, xx, yy] = [0, 0, 0];
  for (const { truth, estimate } of pairs) {
    xy += (truth - x) * (estimate - y);
    xx += (truth - x) ** 2;
    yy += (estimate - y) ** 2;
  }
  return xx * yy === 0 ? 0 : xy / Math.sqrt(xx * yy);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
