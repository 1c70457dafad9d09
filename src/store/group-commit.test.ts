import { describe, expect, it } from "vitest";
import { answered, routed, T0, vote } from "./events.fixture.ts";
import { eventually } from "./eventually.fixture.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Entry, Receipt, Store } from "./store.ts";
import { StoreUnavailable, VoteRefused } from "./store-error.ts";

/** A store that records what is appended, and that a test can block or make fail. */
function fake(shared = false) {
  const commits: Entry[][] = [];
  const logged: Entry[] = [];
  let fault: ((entries: readonly Entry[]) => unknown) | undefined;
  let gate: Promise<void> | undefined;
  const append = async (entries: readonly Entry[]): Promise<Receipt[]> => {
    commits.push([...entries]);
    await gate;
    const error = fault?.(entries);
    if (error) throw error;
    const known = (id: string) =>
      [...logged, ...entries].some((e) => e.kind === "routed" && e.id === id);
    const receipts = entries.map((entry, i): Receipt => {
      if (entry.kind === "vote" && !known(entry.decision)) {
        return { status: "refused", reason: "unknown" };
      }
      return { status: "logged", position: logged.length + i + 1 };
    });
    logged.push(...entries);
    return receipts;
  };
  return {
    store: { shared, append } as unknown as Store,
    commits,
    logged,
    failWith(next: typeof fault) {
      fault = next;
    },
    close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
  };
}

const down = () => new StoreUnavailable("the disk is full");
const never = { delayMs: 1e6 };

describe("GroupCommit", () => {
  it("commits a vote at once, after its decision and in the same commit", async () => {
    const { store, commits } = fake();
    const log = new GroupCommit(store, never);
    log.log(routed(1));
    log.log(answered(1, 0));
    expect(await log.vote(vote(1))).toBe("logged");
    expect(commits).toEqual([[routed(1), answered(1, 0), vote(1)]]);
  });

  it("collects decisions for a short time and commits them together", async () => {
    const { store, commits } = fake();
    const log = new GroupCommit(store, { delayMs: 5 });
    log.log(routed(1));
    log.log(routed(2));
    await eventually(() => commits).toEqual([[routed(1), routed(2)]]);
  });

  it("commits all votes that arrive during a commit in one further commit", async () => {
    const { store, commits, close } = fake();
    const log = new GroupCommit(store, never);
    const open = close();
    for (let n = 0; n < 9; n++) log.log(routed(n));
    const first = log.vote(vote(0));
    await eventually(() => commits.length).toBe(1);
    const rest = [1, 2, 3, 4].map((n) => log.vote(vote(n)));
    open();
    await Promise.all([first, ...rest]);
    expect(commits.map((entries) => entries.length)).toEqual([10, 4]);
  });

  it("writes at most maxBatch entries per commit", async () => {
    const { store, commits } = fake();
    const log = new GroupCommit(store, { ...never, maxBatch: 3 });
    for (let n = 0; n < 8; n++) log.log(routed(n));
    await log.flush();
    expect(commits.map((entries) => entries.length)).toEqual([3, 3, 2]);
    expect(log.stats).toMatchObject({ logged: 8, commits: 3, waiting: 0, dropped: 0 });
  });

  it("rejects a refused vote with the reason", async () => {
    const log = new GroupCommit(fake().store, never);
    const refused = await log.vote(vote(1)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(VoteRefused);
    expect(refused).toMatchObject({ reason: "unknown", hint: expect.any(String) });
  });

  it("tries twice if another node may still log the decision", async () => {
    const { store, commits, logged } = fake(true);
    const log = new GroupCommit(store, { delayMs: 5 });
    const voting = log.vote(vote(1));
    await eventually(() => commits.length).toBe(1);
    logged.push(routed(1));
    expect(await voting).toBe("logged");
  });

  it("refuses votes and keeps decisions while the store is down, and continues afterwards", async () => {
    const { store, logged, failWith } = fake();
    const log = new GroupCommit(store, { delayMs: 1 });
    failWith(down);
    log.log(routed(1));
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(log.stats).toMatchObject({ down: true, waiting: 1 });
    // The second vote is refused at once, without a call to the store.
    await expect(log.vote(vote(1))).rejects.toMatchObject({ retryAfter: expect.any(Number) });
    expect(log.log(routed(2))).toBe(true);
    failWith(undefined);
    await eventually(() => log.stats.down).toBe(false);
    await log.flush();
    expect(logged).toEqual([routed(1), routed(2)]);
    expect(await log.vote(vote(1))).toBe("logged");
    expect(log.stats.dropped).toBe(0);
  });

  it("drops decisions beyond maxQueue and counts them", async () => {
    const { store, failWith } = fake();
    const log = new GroupCommit(store, { ...never, maxQueue: 3 });
    failWith(down);
    const kept = [1, 2, 3, 4, 5].map((n) => log.log(routed(n)));
    expect(kept).toEqual([true, true, true, false, false]);
    expect(log.stats).toMatchObject({ dropped: 2, waiting: 3 });
    await log.close();
    expect(log.stats).toMatchObject({ dropped: 5, waiting: 0 });
  });

  it("refuses votes beyond maxVotes", async () => {
    const { store, close } = fake();
    const log = new GroupCommit(store, { ...never, maxVotes: 2 });
    const open = close();
    log.log(routed(1));
    const votes = ["ann", "bob", "cy"].map((voter) =>
      log.vote(vote(1, { outcome: "a" }, { voter })),
    );
    const settled = Promise.allSettled(votes);
    open();
    expect((await settled).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
  });

  it("writes all other entries of a batch if one entry cannot be written", async () => {
    const { store, logged, failWith } = fake();
    const log = new GroupCommit(store, never);
    const bad = (entry: Entry) =>
      entry.kind === "routed" ? entry.id === "d2" : "decision" in entry && entry.decision === "d2";
    failWith((entries) => (entries.some(bad) ? new RangeError("no float32") : undefined));
    for (const n of [1, 2, 3]) log.log(routed(n));
    const votes = await Promise.allSettled([1, 2, 3].map((n) => log.vote(vote(n))));
    expect(votes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(logged).toEqual([routed(1), routed(3), vote(1), vote(3)]);
    expect(log.stats).toMatchObject({ dropped: 1, waiting: 0, down: false });
  });

  it("writes the queue when it is closed and accepts nothing afterwards", async () => {
    const { store, logged } = fake();
    const log = new GroupCommit(store, never);
    log.log(routed(1));
    await log.close();
    expect(logged).toEqual([routed(1)]);
    expect(log.log(routed(2))).toBe(false);
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it("returns the position of a control", async () => {
    const log = new GroupCommit(fake().store, never);
    expect(await log.control({ kind: "frozen", router: "auto", at: T0 })).toBe(1);
  });
});
