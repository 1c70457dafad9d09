import type { Decision } from "./decision.ts";
import type { Answered, Configured, Verdict, Voted } from "./events.ts";
import { toFloat32 } from "./vector.ts";

/** Events for tests. Event n concerns decision n of router "auto", and all its fields are functions of n. */
export const T0 = Date.UTC(2026, 0, 1);
export const MODELS = ["ant", "bee", "cat", "dog"];

export function xOf(n: number, dimension = 4): Float64Array {
  return toFloat32(Float64Array.from({ length: dimension }, (_, i) => Math.sin(n * (i + 1) + i)));
}

export function routed(n: number, over: Partial<Decision> = {}): Decision {
  return {
    kind: "routed",
    router: "auto",
    at: T0 + n * 1000,
    id: `d${n}`,
    mode: "apply",
    encoder: "test",
    x: xOf(n),
    candidates: MODELS,
    pair: [MODELS[n % 4]!, MODELS[(n + 1) % 4]!],
    propensity: 0.5,
    seed: n,
    version: 0,
    values: MODELS.map((_, k) => k / 7),
    costs: MODELS.map((_, k) => k / 1000),
    lambda: 0,
    ...over,
  };
}

export function answered(n: number, slot: number, over: Partial<Answered> = {}): Answered {
  return {
    kind: "answered",
    router: "auto",
    at: T0 + n * 1000 + 500,
    decision: `d${n}`,
    slot,
    model: MODELS[(n + slot) % 4]!,
    status: "ok",
    inputTokens: 100,
    outputTokens: 20,
    cost: 0.001,
    latencyMs: 250,
    ...over,
  };
}

/** A vote on decision n, complete without the decision. */
export function vote(
  n: number,
  verdict: Verdict = { outcome: "a" },
  over: Partial<Voted> = {},
): Voted {
  const { pair } = routed(n);
  const models = "ranking" in verdict ? verdict.ranking : "rating" in verdict ? [pair[0]] : pair;
  return {
    kind: "voted",
    router: "auto",
    at: T0 + n * 1000 + 900,
    decision: `d${n}`,
    voter: "ann",
    verdict,
    source: "user",
    weight: 1,
    encoder: "test",
    x: xOf(n),
    models,
    values: models.map((name) => MODELS.indexOf(name) / 7),
    decided: T0 + n * 1000,
    propensity: 0.5,
    version: 0,
    ...over,
  };
}

export function configured(over: Partial<Configured> = {}): Configured {
  const categories = ["code", "prose", "sums"];
  const row = (k: number, f: (k: number, m: number) => number) =>
    Float64Array.from(categories, (_, m) => f(k, m));
  return {
    kind: "configured",
    router: "auto",
    at: T0,
    encoder: "test",
    policy: "joust",
    options: {},
    weighVoters: true,
    seed: 7,
    pool: {
      models: MODELS,
      categories,
      centroids: categories.map((_, m) => xOf(100 + m)),
      told: MODELS.map((_, k) => row(k, (k, m) => 0.5 + Math.cos(k * 3 + m) / 4)),
    },
    ...over,
  };
}
