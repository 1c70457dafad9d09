/**
 * The path of votes in the design beyond one database (docs/scale.md), as a discrete-event
 * simulation: node -> partition of the stream -> learner -> snapshot -> nodes of all regions.
 */
import type { Random } from "../../src/core/random/random.ts";
import { EventQueue } from "./event-queue.ts";

export interface Load {
  /** Requests per second of all regions. */
  readonly requests: number;
  readonly regions: number;
  /** Share of the requests that become duels, and share of the duels that are voted on. */
  readonly duels: number;
  readonly voted: number;
}

/** Times in milliseconds. Those of our own code are measured before the simulation. */
export interface Times {
  /** Folding one vote. */
  readonly fold: number;
  /** Serialising a snapshot. */
  readonly serialize: number;
  /** Installing a snapshot on a node. */
  readonly install: number;
  /** One way inside a region, and between two regions. */
  readonly near: number;
  readonly far: number;
  /** Writing a batch of votes durably to the stream. */
  readonly append: number;
  /** Writing an object to the store of snapshots. */
  readonly put: number;
  /** Shortest time between two snapshots. */
  readonly save: number;
  /** Time after which another learner takes over from one that has died. */
  readonly lease: number;
}

export interface Sizes {
  /** Bytes of one vote and of one snapshot. */
  readonly vote: number;
  readonly snapshot: number;
  /** Bytes per millisecond between two regions. */
  readonly bandwidth: number;
}

export interface Outcome {
  readonly votesPerSecond: number;
  /** Time from a vote until a node serves with it: milliseconds. */
  readonly lag: { readonly p50: number; readonly p99: number };
  /** Longest lag after the learner has died once. */
  readonly lagAfterDeath: number;
  /** Time until a vote is acknowledged, p99: milliseconds. */
  readonly acknowledged: number;
  /** Votes that have been cast and are not yet part of the posterior of a node, mean. */
  readonly staleVotes: number;
  /** Share of the time in which the learner works. */
  readonly learnerBusy: number;
  readonly snapshotsPerSecond: number;
  /** Bytes per second between regions: votes and snapshots. */
  readonly bytesPerSecond: number;
}

const SECONDS = 240;
/** The learner dies at this time; votes before it count for `lag`, votes after it for `lagAfterDeath`. */
const DEATH = 120_000;
const PAGE = 500;

export function simulatePipeline(load: Load, times: Times, sizes: Sizes, random: Random): Outcome {
  const queue = new EventQueue();
  const votesPerSecond = load.requests * load.duels * load.voted;
  const [arrivals, jitter] = [random.split("arrivals"), random.split("jitter")];
  /** Latencies vary: lognormal with the given median. */
  const vary = (milliseconds: number) => milliseconds * Math.exp(0.3 * jitter.normal());
  const toHome = (region: number) => vary(region === 0 ? times.near : times.far);

  const partition: { readonly castAt: number }[] = [];
  const regions = Array.from({ length: load.regions }, () => ({
    installed: 0,
    freeAt: 0,
    newest: 0,
  }));
  const lags: number[] = [];
  const lagsAfterDeath: number[] = [];
  const acknowledgements: number[] = [];
  let [bytes, snapshots, busy] = [0, 0, 0];

  const cast = () => {
    queue.after((-1000 * Math.log(1 - arrivals.uniform())) / votesPerSecond, cast);
    const region = arrivals.integer(load.regions);
    const castAt = queue.now;
    const way = toHome(region);
    if (region > 0) bytes += sizes.vote;
    queue.after(way + vary(times.append), () => {
      partition.push({ castAt });
      acknowledgements.push(queue.now - castAt + way);
      wake();
    });
  };

  // The learner works on one thing at a time; `epoch` makes what a dead learner has begun void.
  let learner = { epoch: 0, position: 0, saved: 0, savedAt: 0, isBusy: false };
  const wake = () => {
    if (!learner.isBusy) work();
  };
  const spend = (milliseconds: number, then: () => void) => {
    const { epoch } = learner;
    learner.isBusy = true;
    busy += milliseconds;
    queue.after(milliseconds, () => {
      if (learner.epoch !== epoch) return;
      learner.isBusy = false;
      then();
    });
  };
  const work = () => {
    const waiting = Math.min(PAGE, partition.length - learner.position);
    const due = learner.savedAt + times.save;
    if (learner.position > learner.saved && queue.now >= due) {
      const { position } = learner;
      learner.saved = position;
      learner.savedAt = queue.now;
      spend(times.serialize, () => {
        publish(position);
        work();
      });
    } else if (waiting > 0) {
      spend(waiting * times.fold, () => {
        learner.position += waiting;
        work();
      });
    } else if (learner.position > learner.saved) {
      const { epoch } = learner;
      queue.after(due - queue.now, () => learner.epoch === epoch && wake());
    }
  };
  const publish = (position: number) => {
    snapshots++;
    const transfer = sizes.snapshot / sizes.bandwidth;
    queue.after(vary(times.put), () => {
      for (const [index, region] of regions.entries()) {
        if (index > 0) bytes += sizes.snapshot;
        queue.after(toHome(index) + (index > 0 ? transfer : 0), () => install(region, position));
      }
    });
  };
  /** A node installs the newest snapshot, using at most a twentieth of its time. */
  const install = (region: (typeof regions)[number], position: number) => {
    if (position <= region.newest) return;
    region.newest = position;
    const start = Math.max(queue.now, region.freeAt);
    region.freeAt = start + 20 * times.install;
    queue.after(start - queue.now + times.install, () => {
      for (let i = region.installed; i < position; i++) {
        const { castAt } = partition[i]!;
        (castAt < DEATH - 10_000 ? lags : lagsAfterDeath).push(queue.now - castAt);
      }
      region.installed = Math.max(region.installed, position);
    });
  };

  let staleSum = 0;
  let samples = 0;
  const sample = () => {
    queue.after(1000, sample);
    for (const { installed } of regions) staleSum += partition.length - installed;
    samples += regions.length;
  };

  queue.after(0, cast);
  queue.after(10_000, sample);
  queue.runUntil(DEATH);
  const [busyBefore, bytesBefore, snapshotsBefore, staleVotes] = [
    busy,
    bytes,
    snapshots,
    staleSum / samples,
  ];
  // Another learner starts from the last snapshot when the lease has run out.
  const { epoch, saved } = learner;
  learner = { epoch: epoch + 1, position: saved, saved, savedAt: queue.now, isBusy: true };
  queue.after(times.lease, () => {
    learner.isBusy = false;
    work();
  });
  queue.runUntil(1000 * SECONDS);

  const seconds = DEATH / 1000;
  return {
    votesPerSecond,
    lag: { p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) },
    lagAfterDeath: Math.max(...lagsAfterDeath),
    acknowledged: quantile(acknowledgements, 0.99),
    staleVotes,
    learnerBusy: busyBefore / DEATH,
    snapshotsPerSecond: snapshotsBefore / seconds,
    bytesPerSecond: bytesBefore / seconds,
  };
}

function quantile(values: number[], q: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(q * values.length))] ?? Number.NaN;
}
