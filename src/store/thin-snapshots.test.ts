import { describe, expect, it } from "vitest";
import { T0 } from "./events.fixture.ts";
import { snapshotsToDelete } from "./thin-snapshots.ts";

describe("snapshotsToDelete", () => {
  const HOUR = 3_600_000;
  const every = (ms: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ position: i + 1, at: T0 + i * ms }));
  const kept = (snapshots: ReturnType<typeof every>, now: number, horizon = 0) => {
    const deleted = new Set(snapshotsToDelete(snapshots, now, horizon));
    return snapshots.filter(({ position }) => !deleted.has(position));
  };

  it("keeps one per hour for two days, one per day before, the newest and the horizon", () => {
    const snapshots = every(HOUR / 4, 4 * 24 * 5);
    const now = snapshots.at(-1)!.at;
    const left = kept(snapshots, now, 7);
    expect(left).toContainEqual(snapshots[6]);
    expect(left.at(-1)).toEqual(snapshots.at(-1));
    const ages = left.map(({ at }) => (now - at) / HOUR);
    expect(ages.filter((age) => age < 48)).toHaveLength(48 + 1);
    expect(ages.filter((age) => age >= 48)).toHaveLength(3 + 1);
  });

  it("keeps the same number of snapshots if it is called after every save, and always the newest", () => {
    let snapshots: ReturnType<typeof every> = [];
    for (const snapshot of every(HOUR / 6, 6 * 24 * 4)) {
      snapshots = kept([...snapshots, snapshot], snapshot.at);
      expect(snapshots.at(-1)).toEqual(snapshot);
    }
    expect(snapshots.length).toBeLessThan(48 + 4 + 2);
  });
});
