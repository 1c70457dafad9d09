import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { Random } from "../../core/random/random.ts";
import { newFiles } from "../../store/folder.fixture.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { Budgets, type Reservation } from "./budgets.ts";

const newFile = newFiles();
const NOON = Date.UTC(2026, 10, 16, 12);

/** Nodes that share a store and a clock. */
function nodesOf(count: number) {
  const time = { now: NOON };
  const store = new SqliteStore(newFile(), () => time.now);
  const nodes = Array.from(
    { length: count },
    (_, i) => new Budgets(store, `node ${i}`, () => time.now),
  );
  onTestFinished(async () => {
    for (const node of nodes) await node.close();
    await store.close();
  });
  return { time, store, nodes };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "reserved",
    (error: { code: string }) => error.code,
  );

describe("budgets", () => {
  it("reserve what requests at the same time can cost", async () => {
    const { nodes } = nodesOf(1);
    const codes = await Promise.all(
      Array.from({ length: 200 }, () => codeOf(nodes[0]!.reserve("k", 1, 0.3))),
    );
    expect(codes.filter((code) => code === "reserved")).toHaveLength(3);
    expect(codes.filter((code) => code === "budget_reserved")).toHaveLength(197);
  });

  it("let one request begin whose estimate exceeds what is left, and then none", async () => {
    const { nodes, time } = nodesOf(1);
    const [node] = nodes;
    const first = await node!.reserve("k", 1, 2);
    expect(first.amount).toBe(1);
    expect(await codeOf(node!.reserve("k", 1, 2))).not.toBe("reserved");
    first.settle(2);
    time.now += 1000;
    const error = await node!.reserve("k", 1, 2).catch((thrown) => thrown);
    expect([error.status, error.code]).toEqual([429, "insufficient_quota"]);
    expect(error.message).toMatch(/^this API key has spent \$2\.0000 of its \$1 for 2026-11$/);
  });

  it("let a running request set more aside only if there is room or no other is running", async () => {
    const [node] = nodesOf(1).nodes;
    const [one, two] = [await node!.reserve("k", 1, 0.1), await node!.reserve("k", 1, 0.1)];
    expect([await one.raise(0.05), one.amount]).toEqual([true, 0.1]);
    expect(await one.raise(0.8)).toBe(true);
    expect(one.amount).toBeCloseTo(0.8, 9);
    expect([await two.raise(0.3), two.amount]).toEqual([false, 0.1]);
    one.settle(0.8);
    expect(await two.raise(5)).toBe(true);
    expect(two.amount).toBeCloseTo(0.2, 9);
    two.settle(2);
    expect(await codeOf(node!.reserve("k", 1, 0.1))).toBe("insufficient_quota");
  });

  it("can be spent again if a request costs less than was reserved", async () => {
    const [node] = nodesOf(1).nodes;
    for (let i = 0; i < 20; i++) (await node!.reserve("k", 1, 0.9)).settle(0.01);
    expect((await node!.reserve("k", 1, 0.8)).amount).toBeCloseTo(0.8, 9);
    expect((await node!.reserve("other", 1, 0.9)).amount).toBeCloseTo(0.9, 9);
  });

  it("can be spent to the end if a request costs more than was reserved", async () => {
    const [node] = nodesOf(1).nodes;
    const running = await node!.reserve("k", 1.2, 0.03);
    (await node!.reserve("k", 1.2, 0.03)).settle(0.5);
    const others = await node!.reserve("k", 1.2, 0.6);
    expect(others.amount).toBeCloseTo(0.6, 9);
    // Nothing else is left: 0.5 are spent, 0.03 and 0.6 are set aside.
    expect(await codeOf(node!.reserve("k", 1.2, 0.08))).toBe("budget_reserved");
    others.settle(0.6);
    running.settle(0.03);
    expect((await node!.reserve("k", 1.2, 0.08)).amount).toBeCloseTo(0.07, 9);
  });

  it("stay spent after a pause, even if the log has no costs", async () => {
    const { nodes, time, store } = nodesOf(1);
    const [node] = nodes;
    let spent = 0;
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 3; i++) {
        const reservation = await node!.reserve("k", 1, 0.3).catch(() => undefined);
        reservation?.settle(0.3);
        if (reservation) spent += 0.3;
        time.now += 1000;
      }
      time.now += 61_000;
      await node!.renew();
    }
    expect(spent).toBeCloseTo(1.2, 9);
    expect(await codeOf(node!.reserve("k", 1, 0.3))).toBe("insufficient_quota");
    // Without requests, nothing is left to report.
    const { leaseBudget } = store;
    let queries = 0;
    store.leaseBudget = (request) => {
      queries++;
      return leaseBudget.call(store, request);
    };
    time.now += 61_000;
    for (let i = 0; i < 3; i++) await node!.renew();
    expect(queries).toBe(0);
  });

  it("start again with a new month", async () => {
    const { nodes, time } = nodesOf(1);
    (await nodes[0]!.reserve("k", 1, 1)).settle(1);
    expect(await codeOf(nodes[0]!.reserve("k", 1, 1))).toBe("insufficient_quota");
    time.now = Date.UTC(2026, 11, 1, 1);
    expect(await codeOf(nodes[0]!.reserve("k", 1, 1))).toBe("reserved");
  });

  it("are given back to other nodes when a node closes, is idle, or no longer renews its lease", async () => {
    const { nodes, time, store } = nodesOf(3);
    const [a, b, crashed] = nodes;
    const held = await crashed!.reserve("k", 1, 1);
    expect(await codeOf(b!.reserve("k", 1, 0.5))).toBe("insufficient_quota");
    time.now += 61_000;
    const mine = await b!.reserve("k", 1, 1);
    // A node that was paused must not spend what is no longer its own.
    held.settle(0);
    expect(await codeOf(crashed!.reserve("k", 1, 0.1))).toBe("insufficient_quota");
    mine.settle(0);
    await b!.close();
    (await a!.reserve("k", 1, 0.4)).settle(0.4);
    time.now += 61_000;
    await a!.renew();
    const fresh = new Budgets(store, "fresh", () => time.now);
    expect((await fresh.reserve("k", 1, 0.6)).amount).toBeCloseTo(0.6, 9);
    await fresh.close();
  });

  it("are never exceeded by more than one request per node", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1e6 }), async (seed) => {
        const random = Random.seeded(seed);
        const { nodes, time } = nodesOf(3);
        const running: { reservation: Reservation; cost: number }[] = [];
        const largest = 2;
        let spent = 0;
        for (let step = 0; step < 120; step++) {
          const node = nodes[random.integer(3)]!;
          const most = random.uniform() * largest;
          if (random.uniform() < 0.6) {
            const reservation = await node.reserve("k", 5, most).catch(() => undefined);
            if (reservation) running.push({ reservation, cost: random.uniform() * most });
          } else if (running.length > 0) {
            const [ended] = running.splice(random.integer(running.length), 1);
            ended!.reservation.settle(ended!.cost);
            spent += ended!.cost;
          }
          time.now += random.integer(3000);
          if (step % 10 === 0) for (const each of nodes) await each.renew();
        }
        for (const { reservation, cost } of running) {
          reservation.settle(cost);
          spent += cost;
        }
        expect(spent).toBeLessThanOrEqual(5 + 3 * largest);
      }),
      { seed: 1, numRuns: 30 },
    );
  });
});
