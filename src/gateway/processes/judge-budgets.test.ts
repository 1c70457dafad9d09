import { duplexPair } from "node:stream";
import { expect, it } from "vitest";
import { Link } from "../../core/processes/link.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { JudgeBudgets } from "../feedback/judge-budgets.ts";
import { LinkedPeers } from "../peers/linked-peers.ts";
import { Hub } from "./hub.ts";

/** Budgets of three processes of one machine. */
function startProcesses() {
  const clock = new StandingClock();
  const hub = new Hub({ count: 3, now: () => 0 });
  const all = Array.from({ length: 3 }, () => {
    const [near, far] = duplexPair();
    const member = hub.add(new Link(far));
    const peers = new LinkedPeers(new Link(near));
    peers.join(hub.membershipOf(member));
    return { member, peers, budgets: new JudgeBudgets(peers, clock) };
  });
  return { clock, hub, processes: all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]] };
}

it("all processes share one budget, and a comparison waits until it fits", async () => {
  const { clock, processes } = startProcesses();
  const [a, b, c] = processes.map(({ budgets }) => budgets) as [JudgeBudgets, ...JudgeBudgets[]];
  const first = await b!.reserve("auto", 1, 0.7);
  const done: string[] = [];
  const waiting = [a, c!].map(async (budgets, i) => {
    const hold = await budgets.reserve("auto", 1, 0.6);
    done.push(hold ? `${i}` : "none");
    return hold;
  });
  // Another router has its own budget.
  expect(await c!.reserve("other", 1, 1)).toBeDefined();
  expect(done).toEqual([]);
  first!.settle(0.2);
  const next = await Promise.race(waiting);
  expect(done).toHaveLength(1);
  next!.settle(0.5);
  // Now 0.7 are spent, so the third comparison does not fit, in no process.
  expect((await Promise.all(waiting)).filter((hold) => hold === undefined)).toHaveLength(1);
  expect(await a.reserve("auto", 1, 0.4)).toBeUndefined();
  expect(await b!.reserve("auto", 1, 0.4)).toBeUndefined();
  expect(await b!.reserve("auto", 1, 0.3)).toBeDefined();
  clock.pass(86_400_000);
  expect(await c!.reserve("auto", 1, 1)).toBeDefined();
});

it("a process that ends has spent what it has set aside", async () => {
  const { hub, processes } = startProcesses();
  const [a, b, c] = processes;
  expect(await c.budgets.reserve("auto", 1, 0.6)).toBeDefined();
  const waiting = b.budgets.reserve("auto", 1, 0.4);
  hub.remove(c.member);
  (await waiting)!.settle(0.4);
  expect(await b.budgets.reserve("auto", 1, 0.1)).toBeUndefined();
  expect(await a.budgets.reserve("auto", 1, 0.1)).toBeUndefined();
});

it("the budget goes on when the first process ends", async () => {
  const { hub, processes } = startProcesses();
  const [a, b, c] = processes;
  const [spent, held] = [0.3, 0.4];
  (await a.budgets.reserve("auto", 1, spent))!.settle(spent);
  const old = await c.budgets.reserve("auto", 1, held);
  const isFirst = new Promise<void>((done) => b.peers.onFirst(done));
  hub.remove(a.member);
  await isFirst;
  expect(await b.budgets.reserve("auto", 1, 0.4)).toBeUndefined();
  expect(await c.budgets.reserve("auto", 1, 0.4)).toBeUndefined();
  const last = await c.budgets.reserve("auto", 1, 0.3);
  // The new first process does not know this reservation, so it counts completely.
  old!.settle(0);
  const another = c.budgets.reserve("auto", 1, 0.1);
  last!.settle(0.3);
  expect(await another).toBeUndefined();
});
