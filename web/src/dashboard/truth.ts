import type { Stats, Truth } from "../api/stats.ts";

/** What is believed of a model on a category beside what is true; both relative to the category's mean. */
export interface Pair {
  readonly model: string;
  readonly category: string;
  readonly truth: number;
  readonly estimate: number;
  readonly lo: number | null;
  readonly hi: number | null;
}

export function compared({ kinds, models }: Truth, { leaderboard }: Stats): Pair[] {
  return leaderboard.categories.flatMap(({ category, models: standings }) => {
    const k = kinds.indexOf(category);
    // The pool may be a part of the sandbox.
    const known = standings.flatMap((standing) => {
      const quality = models.find(({ model }) => model === standing.model)?.quality[k];
      return quality === undefined ? [] : [{ ...standing, quality }];
    });
    const middle = mean(known.map(({ quality }) => quality));
    return known.map(({ model, quality, value, lo, hi }) => ({
      model,
      category,
      truth: quality - middle,
      estimate: value,
      lo,
      hi,
    }));
  });
}

export interface Agreement {
  readonly categories: number;
  /** Of the categories: whose estimated best is the true one, or nearly as good. */
  readonly best: number;
  readonly correlation: number;
  /** Share of the true values inside their intervals; null where there are none. */
  readonly covered: number | null;
}

export function agreement(pairs: readonly Pair[]): Agreement | undefined {
  if (pairs.length === 0) return undefined;
  const groups = [...Map.groupBy(pairs, ({ category }) => category).values()];
  const best = groups.filter((group) => {
    const chosen = group.reduce((a, b) => (b.estimate > a.estimate ? b : a));
    return chosen.truth >= Math.max(...group.map(({ truth }) => truth)) - NEARLY;
  });
  const banded = pairs.filter(({ lo }) => lo !== null);
  const inside = banded.filter(({ truth, lo, hi }) => truth >= lo! && truth <= hi!);
  return {
    categories: groups.length,
    best: best.length,
    correlation: correlation(pairs),
    covered: banded.length === 0 ? null : inside.length / banded.length,
  };
}

/** Quality that nobody would notice. */
const NEARLY = 0.02;

function correlation(pairs: readonly Pair[]): number {
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
