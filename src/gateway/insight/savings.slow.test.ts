import { expect, it } from "vitest";
import { simulate, type Traffic } from "./conversations.fixture.ts";

const RUNS = 200;

const base = { conversations: 40, requests: 12, caches: true, switching: 0.2, duels: 0.05 };
const rare = { ...base, caches: false, switching: 0.05 };
/** One request per conversation, so that no prompt is read twice. */
const short = { ...base, caches: false, conversations: 60, requests: 1, duels: 0.5 };
/** Probabilities that a call fails. */
const failing = { large: 0, middle: 0.3, small: 0 };

it.each<[string, Omit<Traffic, "seed">]>([
  ["caches, few changes of model", { ...base, switching: 0.05 }],
  ["caches", base],
  ["few changes of model", rare],
  ["without caches", { ...base, caches: false }],
  ["caches, reported costs", { ...base, reports: true }],
  ["few changes of model, reported costs", { ...rare, reports: true }],
  ["caches, prompts of all lengths", { ...base, spread: 1 }],
  ["prompts of all lengths", { ...rare, spread: 1 }],
  ["caches, failures", { ...base, failing }],
  ["failures, prompts of all lengths", { ...rare, failing, spread: 1 }],
  ["caches, failures that cost", { ...base, failing, failureCost: 0.5 }],
  ["failures that cost", { ...rare, failing, failureCost: 0.5 }],
  ["few single requests, failures", { ...short, failing }],
  ["few single requests, unseen prompts, failures", { ...short, failing, unseen: true }],
])("intervals hold the true savings in 0.90 to 0.98 of the worlds: %s", (_, traffic) => {
  let inside = 0;
  let all = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    const { spent, truth, always } = simulate({ ...traffic, seed: 2000 + seed });
    for (const { model, lo, hi } of always) {
      const saved = truth.get(model)! - spent;
      inside += Number(saved >= lo && saved <= hi);
      all++;
    }
  }
  expect(all).toBe(3 * RUNS);
  expect(inside / all).toBeGreaterThanOrEqual(0.9);
  expect(inside / all).toBeLessThanOrEqual(0.98);
});
