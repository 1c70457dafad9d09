import { expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { LearnedLimits, type RefusedRequest } from "./learned-limits.ts";
import { LEARNED_MS } from "./upstream/refusal.ts";

function refused(tokens: number, more: Partial<RefusedRequest> = {}): RefusedRequest {
  return { tokens, known: undefined, uses: () => true, ...more };
}

it("limits of refusals are remembered for an hour", () => {
  const clock = new StandingClock();
  const limits = new LearnedLimits(clock);
  const listed = { context: 8000, vision: true, tools: true, json_schema: true };
  expect(limits.apply(listed)).toBe(listed);
  limits.learn({ kind: "unsupported_feature", feature: "vision" }, refused(10));
  clock.pass(LEARNED_MS / 2);
  limits.learn({ kind: "context_length", limit: 4000 }, refused(5000));
  expect(limits.apply(listed)).toEqual({ ...listed, context: 4000, vision: false });
  clock.pass(LEARNED_MS / 2);
  expect(limits.apply(listed)).toEqual({ ...listed, context: 4000 });
  clock.pass(LEARNED_MS / 2);
  expect(limits.apply(listed)).toEqual(listed);
});

it.each([
  ["the stated limit", 1000, 5000, 1000],
  ["less than a request that was shorter by our estimate", 1000, 900, 899],
  ["less than the request, if no limit is stated", undefined, 900, 899],
])("a context is %s", (_, limit, tokens, context) => {
  const limits = new LearnedLimits(new StandingClock());
  limits.learn({ kind: "context_length", limit }, refused(tokens));
  expect(limits.apply({})).toMatchObject({ context });
  // A later refusal of a longer request does not raise the limit.
  limits.learn({ kind: "context_length" }, refused(100_000));
  expect(limits.context).toBe(context);
});

it("other refusals are not remembered as limits", () => {
  const limits = new LearnedLimits(new StandingClock());
  for (const kind of ["request", "content_filter", "quota"] as const)
    limits.learn({ kind }, refused(10));
  limits.learn(undefined, refused(10));
  const listed = { tools: true };
  expect(limits.apply(listed)).toBe(listed);
});

it("a context is never smaller than a request that was answered", () => {
  const clock = new StandingClock();
  const limits = new LearnedLimits(clock);
  limits.answered(3000);
  limits.learn({ kind: "context_length", limit: 1000 }, refused(5000));
  expect(limits.context).toBe(3000);
  limits.answered(4000);
  expect(limits.context).toBe(4000);
  clock.pass(LEARNED_MS);
  limits.learn({ kind: "context_length", limit: 1000 }, refused(5000));
  expect(limits.context).toBe(1000);
});

it.each([
  ["a limit that no model has", { limit: 5 }, refused(5000)],
  ["a limit far below the known context", { limit: 600 }, refused(5000, { known: 128_000 })],
  ["a limit far above the request", { limit: 16_000 }, refused(600, { known: 128_000 })],
  ["a limit far above the request of an unknown model", { limit: 128_000 }, refused(600)],
  ["a short request", {}, refused(20)],
  ["a request far below the known context", {}, refused(2000, { known: 128_000 })],
])("%s teaches no context", (_, more, request) => {
  const limits = new LearnedLimits(new StandingClock());
  limits.learn({ kind: "context_length", ...more }, request);
  expect(limits.context).toBeUndefined();
});

it("an upstream may serve a model with a shorter context than the known one", () => {
  const limits = new LearnedLimits(new StandingClock());
  limits.learn({ kind: "context_length", limit: 2048 }, refused(5000, { known: 128_000 }));
  expect(limits.context).toBe(2048);
});

it("a feature is only missing if the refused request uses it", () => {
  const limits = new LearnedLimits(new StandingClock());
  limits.learn(
    { kind: "unsupported_feature", feature: "tools" },
    refused(9, { uses: () => false }),
  );
  expect(limits.lacks("tools")).toBe(false);
});
