import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answered, MODELS, routed } from "./events.fixture.ts";
import { BUCKET_MS, spending, tally } from "./tally.ts";

describe("tally", () => {
  const event = fc
    .tuple(fc.nat(2000), fc.nat(3), fc.boolean())
    .map(([n, model, duel]) =>
      duel
        ? routed(n, { router: `r${model % 2}` })
        : answered(n, 0, { model: MODELS[model]!, cost: n, owner: `k${n % 3}`, ...fallbacks(n) }),
    );
  const fallbacks = (n: number) =>
    n % 2 === 0 ? {} : { fallbacks: [{ model: "ant", reason: "timeout", cost: n }] };

  it("has the same totals however the events are split into batches", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: "max" }), fc.nat(40), (events, cut) => {
        const total = (tallies: ReturnType<typeof tally>, name: "shown" | "cost", all: boolean) =>
          tallies
            .filter(({ model }) => (model === "") === all)
            .reduce((sum, { counts }) => sum + counts[name], 0);
        const parts = [...tally(events.slice(0, cut)), ...tally(events.slice(cut))];
        const whole = tally(events);
        const decisions = events.filter(({ kind }) => kind === "routed").length;
        for (const tallies of [parts, whole]) {
          expect(total(tallies, "shown", true)).toBe(decisions);
          expect(total(tallies, "shown", false)).toBe(2 * decisions);
          expect(total(tallies, "cost", true)).toBe(total(tallies, "cost", false));
        }
        const keys = whole.map(({ router, bucket, model }) => `${router} ${bucket} ${model}`);
        expect(new Set(keys).size).toBe(keys.length);
        expect(whole.every(({ bucket }) => bucket % BUCKET_MS === 0)).toBe(true);
        const spent = spending(events).reduce((sum, { cost }) => sum + cost, 0);
        expect(spent).toBe(total(whole, "cost", true));
      }),
      { seed: 1 },
    );
  });

  it("counts answers that were made for a judge apart", () => {
    const events = [
      answered(1, 0, { model: "bee" }),
      answered(1, 1, { model: "ant", forJudge: true }),
      answered(2, 1, { model: "ant", forJudge: true, status: "failed" }),
    ];
    const counts = tally(events).map(({ model, counts: { answers, failures, for_judge } }) => [
      model,
      [answers, failures, for_judge],
    ]);
    expect(counts).toEqual([
      ["", [3, 1, 1]],
      ["bee", [1, 0, 0]],
      ["ant", [2, 1, 1]],
    ]);
  });

  it("counts the cost of failed calls apart", () => {
    const events = [
      answered(1, 0, { model: "bee", cost: 5, lostCost: 2, fallbacks: [FAILED] }),
      answered(2, 0, { model: "bee", cost: 4, status: "failed" }),
    ];
    const costs = tally(events).map(({ model, counts: { cost, failed_cost } }) => [
      model,
      cost,
      failed_cost,
    ]);
    expect(costs).toEqual([
      ["", 5 + 3 + 4, 2 + 3 + 4],
      ["bee", 5 + 4, 2 + 4],
      ["ant", 3, 3],
    ]);
  });
});

const FAILED = { model: "ant", reason: "timeout", cost: 3 };
