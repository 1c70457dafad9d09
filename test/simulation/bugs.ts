import type { LogEvent } from "../../src/store/events.ts";
import type { Receipt, Store, StoredSnapshot } from "../../src/store/store.ts";
import type { Database } from "./database.ts";
import type { Scheduler } from "./scheduler.ts";

/** Bugs that a store could have. The simulation must find each of them. */
export const BUGS = [
  "lost write",
  "doubled vote",
  "stale lease",
  "torn snapshot",
  "reordered append",
] as const;
export type Bug = (typeof BUGS)[number];

/** The store of a database with a bug. Except for the stale lease, a call rarely shows the bug. */
export function withBug({ store, sql }: Database, bug: Bug, scheduler: Scheduler): Store {
  const rarely = () => scheduler.chance(0.02);
  let lastState: Uint8Array | undefined;

  const methods: Record<Bug, Partial<Store>> = {
    /** The last vote of a batch is acknowledged and never written. */
    "lost write": {
      append: async (events) => {
        if (events.length === 0 || !rarely()) return store.append(events);
        const receipts = await store.append(events.slice(0, -1));
        const position = (await store.head("auto")) + 1;
        return [...receipts, { status: "logged", position, isLearned: true }];
      },
    },
    /** A vote is written twice, because the unique index does not cover it. */
    "doubled vote": {
      append: async (events) => {
        const receipts = await store.append(events);
        const position = rarely() ? lastVote(events, receipts) : undefined;
        if (position === undefined) return receipts;
        sql
          .prepare(`
            INSERT INTO log (router, kind, at, decision, ballot, voter, x, body, checksum)
            SELECT router, kind, at, decision, ballot || ' ', voter, x, body, checksum
            FROM log WHERE position = ?`)
          .run(position);
        return receipts;
      },
    },
    /** The token of a lease is not compared when a snapshot is saved. */
    "stale lease": {
      saveSnapshot: async (snapshot) => {
        const newest = sql.prepare<[], number>("SELECT token FROM leases").pluck().get()!;
        await store.saveSnapshot(snapshot, newest);
      },
    },
    /** The second half of a snapshot is that of the previous one. */
    "torn snapshot": {
      saveSnapshot: async (snapshot, token) => {
        const torn = lastState && rarely() ? tear(snapshot, lastState) : snapshot;
        lastState = snapshot.state;
        await store.saveSnapshot(torn, token);
      },
    },
    /** Positions are assigned before the commit, and another append commits first. */
    "reordered append": {
      append: async (events) => {
        const receipts = await store.append(events);
        const position = rarely() ? lastVote(events, receipts) : undefined;
        if (position === undefined) return receipts;
        const row = sql
          .prepare<[number], Record<string, unknown>>("SELECT * FROM log WHERE position = ?")
          .get(position)!;
        sql.prepare("DELETE FROM log WHERE position = ?").run(position);
        await scheduler.sleep(scheduler.between(1, 500));
        const columns = Object.keys(row);
        sql
          .prepare(`INSERT INTO log (${columns}) VALUES (${columns.map((name) => `@${name}`)})`)
          .run(row);
        return receipts;
      },
    },
  };
  const own = methods[bug];
  return new Proxy<Store>(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Position of the last new vote of an append. */
function lastVote(events: readonly LogEvent[], receipts: readonly Receipt[]): number | undefined {
  const receipt = receipts.findLast(
    ({ status }, i) => status === "logged" && events[i]!.kind === "voted",
  );
  return receipt?.status === "logged" ? receipt.position : undefined;
}

function tear(snapshot: StoredSnapshot, last: Uint8Array): StoredSnapshot {
  const half = snapshot.state.length >> 1;
  return {
    ...snapshot,
    state: Buffer.concat([snapshot.state.subarray(0, half), last.subarray(half)]),
  };
}
