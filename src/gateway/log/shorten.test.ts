import { describe, expect, it } from "vitest";
import type { Decision } from "../../store/decision.ts";
import { isStoredInFull, newDecisionId, uniformSample } from "../../store/decision-id.ts";
import { routed, T0 } from "../../store/events.fixture.ts";
import { shortened } from "./shorten.ts";

const MODELS = Array.from({ length: 1000 }, (_, k) => `model-${k}`);

/** A decision with one answer among many models, whose value grows with their index. */
function large(over: Partial<Decision> = {}): Decision {
  return routed(1, {
    candidates: MODELS,
    pair: ["model-3", "model-3"],
    answers: 1,
    values: MODELS.map((_, k) => k),
    costs: MODELS.map((_, k) => k / 1e6),
    reasons: {
      runner_up: "model-5",
      uncertainty: MODELS.map((_, k) => k / 10),
      tokens: { prompt: MODELS.map((_, k) => k), cached: MODELS.map(() => 0), output: [] },
    },
    ...over,
  });
}

/** Ids of decisions that are, or are not, stored in full. */
function idThat(isFull: boolean): string {
  for (;;) {
    const id = newDecisionId(T0);
    if (isStoredInFull(id) === isFull) return id;
  }
}

describe("a decision of a large pool", () => {
  it("keeps what its explanation needs: the choice, the runner-up and the best others", () => {
    const short = shortened(large({ id: idThat(false) }));
    expect(short.candidates).toEqual(["model-3", "model-5", ...MODELS.slice(-16)]);
    expect(short.values).toEqual([3, 5, ...MODELS.slice(-16).map((_, i) => 984 + i)]);
    expect(short.costs![0]).toBe(3 / 1e6);
    expect(short.reasons!.uncertainty![1]).toBe(0.5);
    expect(short.reasons!.tokens!.prompt.slice(0, 3)).toEqual([3, 5, 984]);
    expect(short.omitted).toBe(1000 - 18);
    expect(JSON.stringify(short).length).toBeLessThan(JSON.stringify(large()).length / 20);
  });

  it("is stored in full if an estimate reads it", () => {
    const drawn = large({ id: idThat(true) });
    expect(shortened(drawn)).toBe(drawn);
    for (const over of [{ answers: 2 }, { answers: "any" }, { pair: ["model-3", "model-4"] }]) {
      const decision = large({ id: idThat(false), ...over } as Partial<Decision>);
      expect(shortened(decision)).toBe(decision);
    }
  });

  it("is in the sample with all candidates with the same probability, whatever was chosen", () => {
    const all = Array.from({ length: 4000 }, (_, n) => {
      const isDuel = n % 2 === 0;
      const pair = isDuel ? (["model-3", "model-4"] as const) : (["model-3", "model-3"] as const);
      return shortened(large({ id: newDecisionId(T0 + n), pair }));
    });
    const sample = uniformSample(all);
    expect(sample.every(({ omitted }) => omitted === undefined)).toBe(true);
    // Duels are half of all decisions, so they are half of the sample, although all of them are stored in full.
    const duels = sample.filter(({ pair }) => pair[0] !== pair[1]).length;
    expect(sample.length).toBeGreaterThan(4000 / 8 - 120);
    expect(sample.length).toBeLessThan(4000 / 8 + 120);
    expect(Math.abs(duels - sample.length / 2)).toBeLessThan(70);
  });

  it("is not changed if the pool is small", () => {
    const decision = routed(1, { pair: ["ant", "ant"] });
    expect(shortened(decision)).toBe(decision);
  });
});
