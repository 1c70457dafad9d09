import type { SeriesPoint, Stats } from "../api/stats.ts";

/** Counts of the window in steps, those without requests included. */
export function filledSeries({ window, series, at }: Stats): SeriesPoint[] {
  const step = window.step_seconds * 1000;
  const known = new Map(series.map((point) => [Date.parse(point.at), point]));
  // Of the time before the first request one empty step is enough: sums begin at nothing.
  const first = Math.min(...known.keys(), Date.parse(at));
  const from = Math.max(Date.parse(window.from), first - step);
  const points: SeriesPoint[] = [];
  for (let time = Math.floor(from / step) * step; time <= Date.parse(at); time += step) {
    points.push(known.get(time) ?? { ...NOTHING, at: new Date(time).toISOString() });
  }
  return points;
}

const NOTHING = { requests: 0, duels: 0, votes: 0, cost: 0, shown: {} };

/** What the panels over time are drawn from. */
export interface OverTimeProps {
  readonly stats: Stats;
  readonly points: readonly SeriesPoint[];
}

/** What the chart library tells of the place under the pointer. */
export type Hover = readonly { readonly dataIndex: number }[];
