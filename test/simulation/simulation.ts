import { Random } from "../../src/core/random/random.ts";
import { T0 } from "../../src/store/events.fixture.ts";
import { configurationOf, controlLearning } from "./admin.ts";
import { type Bug, withBug } from "./bugs.ts";
import { Checks } from "./checks.ts";
import type { Database } from "./database.ts";
import { causeFault, drawNetworkFaults, endFaults } from "./faults.ts";
import { Network } from "./network.ts";
import { SimulatedNode } from "./node.ts";
import { Scheduler } from "./scheduler.ts";
import { Voters } from "./voters.ts";

export interface SimulationOptions {
  readonly isTraced?: boolean | undefined;
  /** A bug to plant into the store. */
  readonly bug?: Bug | undefined;
}

export interface SimulationResult {
  readonly seed: number;
  /** Everything that must not happen and did. */
  readonly failures: readonly string[];
  readonly trace: readonly string[];
  /** Tasks that the scheduler ran. */
  readonly steps: number;
  readonly virtualMs: number;
  /** Acknowledged votes. */
  readonly votes: number;
}

/** Policies of different costs. The default policy of Joust is expensive to fold, so it is used less. */
const POLICIES = ["joust", "thompson", "colstim", "cluster-bradley-terry", "metallm", "double-ts"];
/** Numbers of nodes, those of usual clusters more often. */
const NODES = [1, 2, 2, 3, 3, 4];
/**
 * Sizes of a simulation. Most are short, because many short ones find more than few long ones in the
 * same time. `faultyMs` is the virtual time during which votes, controls and faults happen; the
 * numbers of the others are drawn up to these.
 */
const SHORT = { faultyMs: 1300, people: 9, controls: 4, faults: 5 };
const LONG = { faultyMs: 4000, people: 30, controls: 7, faults: 12 };
/** Virtual time after which all nodes must have reached the newest position. */
const RECOVERY_MS = 30_000;

/**
 * Simulates a cluster: voters, controls of learning and faults, all drawn from the seed. Learner,
 * follower, queue of votes and store are the real ones; time, network and faults are simulated.
 */
export async function simulate(
  seed: number,
  database: Database,
  { isTraced, bug }: SimulationOptions = {},
): Promise<SimulationResult> {
  const random = Random.seeded(seed).split("simulation");
  const scheduler = new Scheduler(random, isTraced);
  const databaseClock = { skewMs: 0 };
  database.clear();
  database.now = () => Math.round(T0 + scheduler.time + databaseClock.skewMs);
  const checks = new Checks(scheduler, database.store);
  const store = bug ? withBug(database, bug, scheduler) : database.store;
  const network = new Network(scheduler, store, (...call) => checks.executed(...call));
  const count = NODES[random.integer(NODES.length)]!;
  const nodes = ["a", "b", "c", "d"].slice(0, count).map(
    (name) =>
      new SimulatedNode(name, {
        scheduler,
        network,
        shared: count > 1,
        onError: (process, error) => checks.fail(`${process.name} reported ${String(error)}`),
      }),
  );
  const voters = new Voters({ scheduler, checks, nodes });
  const faults = { scheduler, network, nodes, databaseClock };
  const size = scheduler.chance(0.15) ? LONG : SHORT;
  const policy = POLICIES[random.integer(POLICIES.length)]!;

  await database.store.append([configurationOf(policy, 0, T0)]);
  await checks.refresh();
  network.faults = drawNetworkFaults(scheduler);
  const sometime = (most: number, run: (n: number) => void) => {
    for (let n = random.integer(most + 1); n > 0; n--) {
      scheduler.after(scheduler.between(0, size.faultyMs), () => run(n));
    }
  };
  for (const node of nodes) {
    node.skewMs = scheduler.between(-2000, 2000);
    scheduler.after(scheduler.between(0, 200), () => node.boot());
  }
  sometime(size.people, (n) => void voters.vote(n));
  sometime(size.controls, () => void controlLearning({ scheduler, checks, nodes }, policy));
  sometime(size.faults, () => causeFault(faults));
  let areFaultsOver = false;
  scheduler.after(size.faultyMs, () => {
    scheduler.note("", "faults end");
    endFaults(faults);
    areFaultsOver = true;
  });

  const isSettled = () =>
    areFaultsOver &&
    voters.active === 0 &&
    network.pendingWrites === 0 &&
    nodes.every(({ process }) => process?.isReady && process.serving?.version === checks.head);
  while (!isSettled() && checks.failures.length === 0) {
    await scheduler.step();
    for (const { process } of nodes) if (process) checks.observe(process);
    if (scheduler.time > size.faultyMs + RECOVERY_MS) {
      const versions = nodes.map(({ process }) => process?.serving?.version ?? "none");
      checks.fail(
        `after ${RECOVERY_MS} ms, ${voters.active} people still vote, and the nodes are at ${versions} of ${checks.head}`,
      );
    }
  }
  if (checks.failures.length === 0) await checks.finish(nodes.map(({ process }) => process!));
  network.close();
  return {
    seed,
    failures: checks.failures,
    trace: scheduler.trace ?? [],
    steps: scheduler.steps,
    virtualMs: scheduler.time,
    votes: checks.acknowledgedVotes,
  };
}
