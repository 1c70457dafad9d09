import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("knows how long the rest takes from what is finished and how far the rest is", () => {
  const pace = new Pace(2, 100, 2);
  const rounds = Int32Array.of(0, 0);
  const waiting = [{ policy: 0, run: 1 }];
  pace.begin(0, 0);
  pace.begin(1, 1);
  expect(pace.left(waiting, rounds)).toBeUndefined();
  vi.advanceTimersByTime(1000);
  expect(pace.of(0)).toBe(Infinity);
  rounds.set([50, 10]);
  // 0 takes 2 s and is half-way, 1 takes 10 s and has 9 to go, another 0 waits: 12 s of work.
  expect(pace.left(waiting, rounds)).toBeCloseTo(9000, 6);
  pace.end(0);
  expect(pace.of(0)).toBe(1000);
  // A policy that was never tried takes what the others take.
  const fresh = new Pace(2, 100, 1);
  fresh.begin(0, 0);
  vi.advanceTimersByTime(500);
  fresh.end(0);
  expect(fresh.left([{ policy: 1, run: 0 }], rounds)).toBeCloseTo(500, 6);
});
