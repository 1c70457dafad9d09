import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configured, T0 } from "../store/events.fixture.ts";
import type { Control, LogEvent, Logged } from "../store/events.ts";
import { effectiveVotes } from "./effective.fixture.ts";
import { loggedAt, voted, withModels } from "./events.fixture.ts";
import { restartsLearning, VoteSchedule } from "./vote-schedule.ts";

/** A number from 0 to 1. The doubles of fast-check are mostly tiny. */
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
    arbitrary: fc.tuple(fc.nat(3), fc.constantFrom(0, 0.5, 1)).map(([v, weight]) => () => {
      return { ...at, kind: "voter_weighed", voter: `v${v}`, weight } as const;
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(3)
      .map((voter) => () => ({ ...at, kind: "voter_forgotten", votes: voter }) as const),
  },
);
/** A log whose positions have gaps, as in a log of several routers. */
const log = fc
  .array(fc.tuple(event, fc.integer({ min: 1, max: 3 })), { maxLength: 30, size: "max" })
  .map((steps) => {
    let position = 0;
    return steps.map(([make, gap]): Logged<LogEvent> => {
      position += gap;
      return loggedAt(position, make(position - 1));
    });
  });

/** A log as it is left after its forgotten voters were erased. In this test, `votes` is the number of the voter. */
function erased(events: readonly Logged<LogEvent>[]): Logged<LogEvent>[] {
  return events.filter((event, i) => {
    if (event.kind !== "voted" && event.kind !== "voter_weighed") return true;
    const isOwn = (e: LogEvent) => e.kind === "voter_forgotten" && `v${e.votes}` === event.voter;
    return !events.slice(i).some(isOwn);
  });
}

function scheduleOf(events: readonly Logged<LogEvent>[]): VoteSchedule {
  const controls = events.filter((e): e is Logged<Control> => e.kind !== "voted");
  return new VoteSchedule(controls, events.at(-1)?.position ?? 0);
}

function votesOf(events: readonly Logged<LogEvent>[]) {
  const schedule = scheduleOf(events);
  return events
    .filter((e) => e.kind === "voted")
    .map((vote) => ({
      position: vote.position,
      countsAt: schedule.countsAt(vote),
      weight: schedule.weightOf(vote.voter),
    }))
    .filter(({ countsAt }) => countsAt !== undefined)
    .sort((a, b) => a.countsAt! - b.countsAt! || a.position - b.position);
}

describe("VoteSchedule", () => {
  it("agrees with the obvious implementation", () => {
    fc.assert(
      fc.property(log, (all) => {
        const events = erased(all);
        const obvious = effectiveVotes(events);
        expect(votesOf(events)).toEqual(
          obvious.map(({ vote, position: countsAt, weight }) => {
            return { position: vote.position, countsAt, weight };
          }),
        );
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it("starts with the votes of an earlier schedule wherever hasPrefix is true", () => {
    fc.assert(
      fc.property(log, share, (all, part) => {
        const past = all.slice(0, Math.floor(part * all.length));
        const position = past.at(-1)?.position ?? 0;
        const [earlier, events] = [erased(past), erased(all)];
        if (!scheduleOf(events).hasPrefix(position)) return;
        const [before, after] = [votesOf(earlier), votesOf(events)];
        expect(after.slice(0, before.length)).toEqual(before);
        expect(after.slice(before.length).every(({ countsAt }) => countsAt! > position)).toBe(true);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });

  it("continues from before an exclusion after the voter is included again", () => {
    const weighed = (weight: number) =>
      ({ ...at, kind: "voter_weighed", voter: "v1", weight }) as const;
    const controls = [configured(), weighed(0), weighed(1)].map((event, i) =>
      loggedAt(2 * i + 1, event),
    );
    const isPrefix = (until: number) => new VoteSchedule(controls, until).hasPrefix(2);
    expect([2, 3, 4, 5, 6].map(isPrefix)).toEqual([true, false, false, true, true]);
  });

  it("takes the last configuration that restarts learning as its base", () => {
    const logs = [
      configured(),
      configured({ pool: withModels(["ant", "eel"]) }),
      configured({ options: { horizon: 600 } }),
      configured({ options: { horizon: 600 }, pool: withModels(["ant", "bee"]) }),
    ].map((event, i) => loggedAt(i + 1, event));
    expect(logs.map(({ position }) => new VoteSchedule(logs, position).base?.position)).toEqual([
      1, 1, 3, 3,
    ]);
    expect(new VoteSchedule([], 5).base).toBeUndefined();
  });
});

describe("restartsLearning", () => {
  const before = configured();
  const { pool } = before;

  it("is false for changed models, scores or costs", () => {
    expect(restartsLearning(before, configured({ at: T0 + 5 }))).toBe(false);
    expect(restartsLearning(before, configured({ pool: withModels(["ant", "eel"]) }))).toBe(false);
    const costs = pool.models.map(() => Float64Array.of(1, 2, 3));
    expect(restartsLearning(before, configured({ pool: { ...pool, costs } }))).toBe(false);
  });

  it("is true for a changed policy, encoder, seed, weighing or category, and for scores where there were none", () => {
    const centroids = pool.centroids.map((xi) => xi.map((value) => -value));
    const { told: _, ...untold } = pool;
    for (const change of [
      { policy: "greedy" },
      { options: { horizon: 900 } },
      { encoder: "other" },
      { seed: 8 },
      { weighVoters: false },
      { pool: { ...pool, centroids } },
      { pool: { ...pool, categories: ["x", "y", "z"] } },
      { pool: { ...pool, toldErrors: pool.told!.map((row) => row.map(() => 0.1)) } },
      { pool: untold },
    ]) {
      expect(restartsLearning(before, configured(change))).toBe(true);
    }
  });
});
