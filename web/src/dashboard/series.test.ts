import { expect, it } from "vitest";
import type { SeriesPoint, Stats } from "../../../src/client.ts";
import { filledSeries } from "./series.ts";

const MINUTE = 60_000;
const start = Date.parse("2026-11-15T12:00:00Z");
const at = (minutes: number) => new Date(start + minutes * MINUTE).toISOString();
const point = (minutes: number, requests: number): SeriesPoint => ({
  at: at(minutes),
  requests,
  duels: 0,
  votes: 0,
  cost: requests / 100,
  given: { a: requests },
});

/** Steps of five minutes in a window that starts at noon. */
const stats = (now: number, ...series: SeriesPoint[]) =>
  ({ window: { from: at(0), step_seconds: 300 }, at: at(now), series }) as unknown as Stats;

it("adds steps without requests, and neither loses nor repeats a step", () => {
  const points = filledSeries(stats(33, point(5, 2), point(20, 3), point(30, 1)));
  expect(points.map(({ at }) => at)).toEqual([0, 5, 10, 15, 20, 25, 30].map(at));
  expect(points.map(({ requests }) => requests)).toEqual([0, 2, 0, 0, 3, 0, 1]);
});

it("starts with one empty step before the first request", () => {
  const [first, second] = filledSeries(stats(61, point(50, 2)));
  expect([first, second]).toEqual([{ ...point(45, 0), given: {} }, point(50, 2)]);
});

it("has two empty steps if there were no requests", () => {
  expect(filledSeries(stats(61)).map(({ requests }) => requests)).toEqual([0, 0]);
});
