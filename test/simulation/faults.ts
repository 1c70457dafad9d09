import { type Network, type NetworkFaults, NO_FAULTS } from "./network.ts";
import { LEASE_MS, type SimulatedNode } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

export interface FaultParts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly nodes: readonly SimulatedNode[];
  /** Difference of the clock of the database from the true time. */
  readonly databaseClock: { skewMs: number };
}

/** Draws the probabilities of one simulation. Some kinds of faults never happen in it, others often. */
export function drawNetworkFaults({ random }: Scheduler): NetworkFaults {
  const rate = (most: number) => (random.uniform() < 0.5 ? 0 : most * random.uniform() ** 2);
  return {
    refused: rate(0.15),
    requestLost: rate(0.1),
    responseLost: rate(0.15),
    late: rate(0.08),
    notificationLost: rate(1),
    notificationRepeated: rate(0.5),
    notificationLate: rate(0.5),
  };
}

/** Something that goes wrong on one node or in the database, and ends by itself. */
type Fault = (parts: FaultParts, node: SimulatedNode) => void;

const FAULTS: Readonly<Record<string, Fault>> = {
  kill: ({ scheduler }, node) => {
    node.kill();
    scheduler.after(scheduler.between(0, 1000), () => node.boot());
  },
  restart: (_, node) => void node.restart(),
  // A long garbage collection or a machine that was suspended, often longer than a lease.
  pause: ({ scheduler }, node) => node.pause(scheduler.between(5, 4 * LEASE_MS)),
  cut: ({ scheduler }, node) => {
    node.isCut = true;
    scheduler.after(scheduler.between(50, 3 * LEASE_MS), () => {
      node.isCut = false;
    });
  },
  outage: ({ scheduler, network }) => {
    network.isDown = true;
    scheduler.after(scheduler.between(20, 1500), () => {
      network.isDown = false;
    });
  },
  slow: ({ scheduler, network }) => {
    network.slowness = scheduler.between(3, 40);
    scheduler.after(scheduler.between(100, 2000), () => {
      network.slowness = 1;
    });
  },
  "wall clock": ({ scheduler }, node) => {
    node.skewMs = scheduler.between(-3_600_000, 3_600_000);
  },
  "database clock": ({ scheduler, databaseClock }) => {
    databaseClock.skewMs = scheduler.between(-LEASE_MS, 2 * LEASE_MS);
  },
};
const NAMES = Object.keys(FAULTS);

/** Starts a random fault, half of the time on the node that learns, otherwise on any node. */
export function causeFault(parts: FaultParts): void {
  const { scheduler, nodes } = parts;
  const name = NAMES[scheduler.random.integer(NAMES.length)]!;
  const learning = nodes.find(({ process }) => process?.isLearner);
  const any = nodes[scheduler.random.integer(nodes.length)]!;
  const node = (scheduler.chance(0.5) && learning) || any;
  scheduler.note(node.name, `fault: ${name}`);
  FAULTS[name]!(parts, node);
}

/** Ends all faults. Processes that do not run are started. */
export function endFaults({ network, nodes }: FaultParts): void {
  network.faults = NO_FAULTS;
  network.isDown = false;
  network.slowness = 1;
  for (const node of nodes) {
    node.isCut = false;
    if (node.process) node.process.pausedUntil = 0;
    node.boot();
  }
}
