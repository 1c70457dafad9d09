import { describe, expect, it } from "vitest";
import { routed, vote } from "./events.fixture.ts";
import type { DecisionEvent, Voted } from "./events.ts";
import { eventually } from "./eventually.fixture.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Receipt, Store } from "./store.ts";
import { StoreUnavailable, VoteRefused } from "./store-error.ts";
import { systemTimers, type Timers } from "./timers.ts";

type Entry = DecisionEvent | Voted;

/** A store that records what is written, and that a test can block or make fail. */
function fake() {
  const commits: Entry[][] = [];
  const logged: Entry[] = [];
  let fault: ((entries: readonly Entry[]) => unknown) | undefined;
  let gate: Promise<void> | undefined;
  const write = async (entries: readonly Entry[]): Promise<Receipt[]> => {
    commits.push([...entries]);
    await gate;
    const error = fault?.(entries);
    if (error) throw error;
    const receipts = entries.map((entry, i): Receipt => {
      const isUsed = entry.kind === "voted" && logged.includes(entry);
      return isUsed
        ? { status: "refused", reason: "changed" }
        : { status: "logged", position: logged.length + i + 1, isLearned: true };
    });
    logged.push(...entries);
    return receipts;
  };
  return {
    store: {
      append: write,
      record: async (events, counted = []) => void (await write([...events, ...counted])),
    } as Pick<Store, "append" | "record">,
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
  it("commits a vote at once and does not wait for decisions", async () => {
    const { store, commits } = fake();
    const log = new GroupCommit(store, never);
    log.log(routed(1));
    expect(await log.vote(vote(1))).toBe("logged");
    expect(commits).toEqual([[vote(1)]]);
  });

  it("passes on decisions that are to be counted but not stored", async () => {
    const calls: unknown[] = [];
    const record: Store["record"] = async (...args) => void calls.push(args);
    const log = new GroupCommit({ ...fake().store, record }, never);
    log.log(routed(1));
    log.log(routed(2), false);
    await log.flush();
    expect(calls).toEqual([[[routed(1)], [routed(2)]]]);
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
    const first = log.vote(vote(0));
    await eventually(() => commits.length).toBe(1);
    const rest = [1, 2, 3, 4].map((n) => log.vote(vote(n)));
    open();
    await Promise.all([first, ...rest]);
    expect(commits.map((entries) => entries.length)).toEqual([1, 4]);
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
    const again = vote(1);
    await log.vote(again);
    const refused = await log.vote(again).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(VoteRefused);
    expect(refused).toMatchObject({ reason: "changed", hint: expect.any(String) });
  });

  it("refuses a vote if the database does not respond in time, and accepts it when it is sent again", async () => {
    const { store, logged, close } = fake();
    const log = new GroupCommit(store, { ...never, voteMs: 5 });
    const open = close();
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
    open();
    await eventually(() => logged.length).toBe(1);
    expect(await log.vote(vote(1))).toBe("logged");
  });

  it("refuses votes and keeps decisions while the store is down, and continues afterwards", async () => {
    const { store, logged, failWith } = fake();
    const log = new GroupCommit(store, { delayMs: 1 });
    failWith(down);
    log.log(routed(1));
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await eventually(() => log.stats).toMatchObject({ down: true, waiting: 1 });
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

  it("tells once that the store is unavailable, and once that it is available again", async () => {
    const { store, failWith } = fake();
    const told: string[] = [];
    const observers = {
      onDown: (error: Error) => void told.push(error.message),
      onUp: () => void told.push("up"),
    };
    const log = new GroupCommit(store, { delayMs: 1, ...observers });
    failWith(down);
    log.log(routed(1));
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await eventually(() => log.stats.failedCommits).toBeGreaterThan(2);
    failWith(undefined);
    await eventually(() => log.stats.down).toBe(false);
    expect(told).toEqual([down().message, "up"]);
  });

  it("waits longer after each attempt while the store is down, whatever the error is", async () => {
    const { store, failWith } = fake();
    const delays: number[] = [];
    const after: Timers["after"] = (ms, run, ...rest) => {
      delays.push(ms);
      return systemTimers.after(ms / 100, run, ...rest);
    };
    const log = new GroupCommit(store, { voteMs: 1e6 }, { ...systemTimers, after });
    failWith(down);
    await expect(log.vote(vote(1))).rejects.toBeInstanceOf(StoreUnavailable);
    const errors = [new Error("permission denied"), new Error("permission denied")];
    failWith(() => errors.pop());
    await eventually(() => log.stats.down).toBe(false);
    expect(delays).toEqual([1e6, 100, 200, 400]);
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
    const votes = [1, 2, 3].map((n) => log.vote(vote(n)));
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
      entry.kind === "routed" ? entry.id === "d2" : entry.decision === "d2";
    failWith((entries) => (entries.some(bad) ? new RangeError("no float32") : undefined));
    for (const n of [1, 2, 3]) log.log(routed(n));
    const votes = await Promise.allSettled([1, 2, 3].map((n) => log.vote(vote(n))));
    expect(votes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await log.flush();
    expect(logged).toEqual([vote(1), vote(3), routed(1), routed(3)]);
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
});
