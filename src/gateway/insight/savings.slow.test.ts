import { expect, it } from "vitest";
import { simulate } from "./conversations.fixture.ts";

const RUNS = 200;

it.each([
  [true, 0.05, false],
  [true, 0.2, false],
  [false, 0.05, false],
  [false, 0.2, false],
  [true, 0.2, true],
  [false, 0.05, true],
])(
  "intervals hold the true savings in 0.90 to 0.98 of the worlds (caches: %s, changes of model: %s, reported costs: %s)",
  (caches, switching, reports) => {
    let inside = 0;
    let all = 0;
    for (let seed = 0; seed < RUNS; seed++) {
      const traffic = {
        seed: 2000 + seed,
        conversations: 40,
        requests: 12,
        caches,
        switching,
        reports,
        duels: 0.05,
      };
      const { spent, truth, always } = simulate(traffic);
      for (const { model, lo, hi } of always) {
        const saved = truth.get(model)! - spent;
        inside += Number(saved >= lo && saved <= hi);
        all++;
      }
    }
    expect(all).toBe(3 * RUNS);
    expect(inside / all).toBeGreaterThanOrEqual(0.9);
    expect(inside / all).toBeLessThanOrEqual(0.98);
  },
);
