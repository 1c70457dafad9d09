import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { Random } from "../../src/core/random/random.ts";
import { conforms } from "../../src/store/store.case.ts";
import { BUGS } from "./bugs.ts";
import { Database } from "./database.ts";
import { Network } from "./network.ts";
import { Scheduler } from "./scheduler.ts";
import { simulate } from "./simulation.ts";

/** Seeds within which each planted bug must be found. */
const SEEDS_PER_BUG = 100;

const database = new Database();
afterAll(() => database.close());

conforms("the simulated store", async () => {
  const own = new Database();
  let isFinished = false;
  onTestFinished(() => {
    isFinished = true;
  });
  const scheduler = new Scheduler(Random.seeded(1));
  own.now = () => Math.round(scheduler.time);
  const network = new Network(scheduler, own.store);
  const run = async () => {
    while (!isFinished) if (!(await scheduler.step())) await scheduler.idle();
    await own.close();
  };
  void run();
  const peer = { name: "test", isDead: false, pausedUntil: 0, isCut: false };
  return async () => network.storeOf(peer, false);
});

describe("simulation", () => {
  it("finds nothing wrong with 100 seeds", async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { failures } = await simulate(seed, database);
      expect(failures, `seed ${seed}`).toEqual([]);
    }
  });

  it("gives the same trace for the same seed, whatever ran before", async () => {
    const first = await simulate(15, database, { isTraced: true });
    await simulate(8, database);
    const again = await simulate(15, database, { isTraced: true });
    expect(first.trace.length).toBeGreaterThan(100);
    expect(again).toEqual(first);
    const other = await simulate(9, database, { isTraced: true });
    expect(other.trace).not.toEqual(first.trace);
  });

  it.each(BUGS)("finds a planted bug: %s", async (bug) => {
    for (let seed = 1; seed <= SEEDS_PER_BUG; seed++) {
      const { failures } = await simulate(seed, database, { bug });
      if (failures.length > 0) return;
    }
    expect.fail(`${SEEDS_PER_BUG} seeds did not find it`);
  });
});
