import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configured, T0 } from "../store/events.fixture.ts";
import type { Control, Learning, Logged } from "../store/events.ts";
import { effectiveVotes } from "./effective.fixture.ts";
import { loggedAt, voted, withModels } from "./events.fixture.ts";
import { learnsAnew, Script } from "./script.ts";

/** fast-check's doubles are mostly tiny. */
const share = fc.nat(100).map((percent) => percent / 100);
const at = { router: "auto", at: T0 };
const event = fc.oneof(
  { weight: 4, arbitrary: fc.nat(3).map((v) => () => voted(1, { voter: `v${v}` })) },
  { weight: 1, arbitrary: fc.constant(() => ({ ...at, kind: "frozen" }) as const) },
  {
    weight: 1,
    arbitrary: fc.boolean().map((learn) => () => ({ ...at, kind: "thawed", learn }) as const),
  },
  {
    weight: 1,
    arbitrary: share.map(
      (part) => (n: number) => ({ ...at, kind: "rolled_back", to: Math.floor(part * n) }) as const,
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(3)
      .map((v) => () => ({ ...at, kind: "voter_forgotten", voter: `v${v}` }) as const),
  },
);
/** A log whose positions have gaps, as those of one router among several have. */
const log = fc
  .array(fc.tuple(event, fc.integer({ min: 1, max: 3 })), { maxLength: 30, size: "max" })
  .map((steps) => {
    let position = 0;
    return steps.map(([make, gap]): Logged<Learning> => {
      position += gap;
      return loggedAt(position, make(position - 1));
    });
  });

function scriptOf(events: readonly Logged<Learning>[]): Script {
  const controls = events.filter((e): e is Logged<Control> => e.kind !== "voted");
  return new Script(controls, events.at(-1)?.position ?? 0);
}

function placesOf(events: readonly Logged<Learning>[]) {
  const script = scriptOf(events);
  return events
    .filter((e) => e.kind === "voted")
    .map((vote) => ({ position: vote.position, place: script.place(vote) }))
    .filter(({ place }) => place !== undefined)
    .sort((a, b) => a.place! - b.place! || a.position - b.position);
}

describe("Script", () => {
  it("says what walking through the log says", () => {
    fc.assert(
      fc.property(log, (events) => {
        const obvious = effectiveVotes(events);
        expect(placesOf(events)).toEqual(
          obvious.map(({ vote, place }) => ({ position: vote.position, place })),
        );
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it("begins with what was folded earlier wherever it says so", () => {
    fc.assert(
      fc.property(log, share, (events, part) => {
        const earlier = events.slice(0, Math.floor(part * events.length));
        const position = earlier.at(-1)?.position ?? 0;
        if (!scriptOf(events).holds(position)) return;
        const [before, after] = [placesOf(earlier), placesOf(events)];
        expect(after.slice(0, before.length)).toEqual(before);
        expect(after.slice(before.length).every(({ place }) => place! > position)).toBe(true);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });

  it("begins with the last configuration that leaves nothing of what was learnt", () => {
    const logs = [
      configured(),
      configured({ pool: withModels(["ant", "eel"]) }),
      configured({ options: { alpha: 2 } }),
      configured({ options: { alpha: 2 }, pool: withModels(["ant", "bee"]) }),
    ].map((event, i) => loggedAt(i + 1, event));
    expect(logs.map(({ position }) => new Script(logs, position).base?.position)).toEqual([
      1, 1, 3, 3,
    ]);
    expect(new Script([], 5).base).toBeUndefined();
  });
});

describe("learnsAnew", () => {
  const before = configured();
  const { pool } = before;

  it("not for other models, scores or costs", () => {
    expect(learnsAnew(before, configured({ at: T0 + 5 }))).toBe(false);
    expect(learnsAnew(before, configured({ pool: withModels(["ant", "eel"]) }))).toBe(false);
    const costs = pool.models.map(() => Float64Array.of(1, 2, 3));
    expect(learnsAnew(before, configured({ pool: { ...pool, costs } }))).toBe(false);
  });

  it("for another policy, encoder, seed or weighing, other categories, or told scores where there were none", () => {
    const centroids = pool.centroids.map((xi) => xi.map((value) => -value));
    const { told: _, ...untold } = pool;
    for (const change of [
      { policy: "greedy" },
      { options: { alpha: 3 } },
      { encoder: "other" },
      { seed: 8 },
      { weighVoters: false },
      { pool: { ...pool, centroids } },
      { pool: { ...pool, categories: ["x", "y", "z"] } },
      { pool: untold },
    ]) {
      expect(learnsAnew(before, configured(change))).toBe(true);
    }
  });
});
