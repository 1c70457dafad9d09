import type { SeriesPoint, Stats } from "../../../src/client.ts";

/** The counts of the time window, one point per step; steps without requests have zeros. */
export function filledSeries({ window, series, at }: Stats): SeriesPoint[] {
  const step = window.step_seconds * 1000;
  const known = new Map(series.map((point) => [Date.parse(point.at), point]));
  // One empty step before the first request is enough for the sums to start at zero.
  const first = Math.min(...known.keys(), Date.parse(at));
  const from = Math.max(Date.parse(window.from), first - step);
  const points: SeriesPoint[] = [];
  for (let time = Math.floor(from / step) * step; time <= Date.parse(at); time += step) {
    points.push(known.get(time) ?? { ...EMPTY, at: new Date(time).toISOString() });
  }
  return points;
}

const EMPTY = { requests: 0, duels: 0, votes: 0, cost: 0, given: {} };

/** Properties of the panels with charts over time. */
export interface OverTimeProps {
  readonly stats: Stats;
  readonly points: readonly SeriesPoint[];
}
