import { POLICIES } from "../core/bandit/policies/index.ts";
import type { Outcome } from "../core/bandit/policy.ts";
import { configured, MODELS, T0, xOf } from "../store/events.fixture.ts";
import type { Logged, Voted } from "../store/events.ts";
import type { FindPolicy } from "./fold.ts";

export const findPolicy: FindPolicy = (name) => POLICIES.find((kind) => kind.name === name)!;

const OUTCOMES: readonly Outcome[] = ["a", "b", "tie", "both_bad"];

/** Vote n, complete without a decision. All its fields are functions of n. */
export function voted(n: number, over: Partial<Voted> = {}): Voted {
  const a = MODELS[n % 4]!;
  const b = MODELS[(n + 1 + (n % 3)) % 4]!;
  return {
    kind: "voted",
    router: "auto",
    at: T0 + n * 1000,
    decision: `d${n}`,
    voter: `v${n % 5}`,
    verdict:
      n % 7 === 3
        ? { rating: Math.sin(n), slot: 0 }
        : n % 11 === 5
          ? { ranking: [b, a] }
          : { outcome: OUTCOMES[Math.floor(n / 2) % 4]! },
    source: "user",
    weight: n % 4 === 0 ? 0.5 : 1,
    encoder: "test",
    x: xOf(n),
    models: n % 7 === 3 ? [a] : n % 11 === 5 ? [b, a] : [a, b],
    values: n % 7 === 3 ? [0.3] : [Math.cos(n), Math.sin(2 * n)],
    ...over,
  };
}

export function loggedAt<E>(position: number, event: E): Logged<E> {
  return { ...event, position };
}

/** The pool of `configured` with other models. */
export function withModels(models: readonly string[]) {
  const { pool } = configured();
  const told = models.map((name) => {
    const k = MODELS.indexOf(name);
    return k < 0 ? Float64Array.of(0.6, Number.NaN, 0.4) : pool.told![k]!;
  });
  return { ...pool, models, told };
}
