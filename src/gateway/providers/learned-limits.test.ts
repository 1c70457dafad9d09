import { expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { LearnedLimits } from "./learned-limits.ts";
import { LEARNED_MS } from "./upstream/refusal.ts";

it("limits of refusals are remembered for an hour", () => {
  const clock = new StandingClock();
  const limits = new LearnedLimits(clock);
  const listed = { context: 8000, vision: true, tools: true, json_schema: true };
  expect(limits.apply(listed)).toBe(listed);
  limits.learn({ kind: "unsupported_feature", feature: "vision" }, 10);
  clock.pass(LEARNED_MS / 2);
  limits.learn({ kind: "context_length", limit: 4000 }, 5000);
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
  limits.learn({ kind: "context_length", limit }, tokens);
  expect(limits.apply({})).toMatchObject({ context });
  // A later refusal of a longer request does not raise the limit.
  limits.learn({ kind: "context_length" }, 100_000);
  expect(limits.context).toBe(context);
});

it("other refusals are not remembered as limits", () => {
  const limits = new LearnedLimits(new StandingClock());
  for (const kind of ["request", "content_filter", "quota"] as const) limits.learn({ kind }, 10);
  limits.learn(undefined, 10);
  const listed = { tools: true };
  expect(limits.apply(listed)).toBe(listed);
});
