import { describe, expect, it } from "vitest";
import { zeroFeedback } from "./policies/baselines.ts";
import { joust } from "./policies/joust.ts";
import { swBradleyTerry } from "./policies/sw-bradley-terry.ts";
import { expectFinite, GIVEN, seedsNotLearned } from "./policy.case.ts";
import type { PolicyKind } from "./policy.ts";

/** The same policy, which ignores votes. */
function deaf(kind: PolicyKind): PolicyKind {
  const create: PolicyKind["create"] = (...args) => {
    const policy = kind.create(...args);
    return {
      choose: (round, random) => policy.choose(round, random),
      learn() {},
      snapshot: () => policy.snapshot(),
      restore: (snapshot) => policy.restore(snapshot),
    };
  };
  return { ...kind, create };
}

describe("the tests of learning", () => {
  const ignorant = [zeroFeedback, deaf(joust as PolicyKind), deaf(swBradleyTerry as PolicyKind)];
  it.each(ignorant)("reject a policy that ignores votes, on every seed: $name", (kind) => {
    for (const given of [0, GIVEN]) expect(seedsNotLearned(kind, given).length).toBe(20);
  });
});

describe("expectFinite", () => {
  it.each([
    ["a number", { state: [Number.NaN] }],
    ["an array", { a: { b: Float64Array.of(1, Infinity) } }],
    ["a Map's values", new Map([["k", Number.NaN]])],
    ["a Map's keys", new Map([[Number.NaN, 1]])],
    ["a Map deep inside", { state: [new Map([[1, { s: Float64Array.of(Number.NaN) }]])] }],
    ["a Set", new Set([Number.NaN])],
  ])("finds NaN in %s", (_, value) => {
    expect(() => expectFinite(value)).toThrow();
  });

  it("accepts all other values", () => {
    expectFinite({ a: [1, "x", undefined, null], m: new Map([["k", Float64Array.of(1)]]) });
  });
});
