import { findPolicy } from "../../src/learner/events.fixture.ts";
import { Follower, type ServedRouter } from "../../src/learner/follower.ts";
import { Learner } from "../../src/learner/learner.ts";
import { T0 } from "../../src/store/events.fixture.ts";
import { GroupCommit } from "../../src/store/group-commit.ts";
import type { Store } from "../../src/store/store.ts";
import { StoreUnavailable } from "../../src/store/store-error.ts";
import type { Timers } from "../../src/store/timers.ts";
import type { Network, Peer } from "./network.ts";
import type { Scheduler } from "./scheduler.ts";

/** Settings of a cluster, shorter than those of a real one: an idle second costs processor time. */
export const LEASE_MS = 600;
const POLL_MS = 500;
const SAVE_MS = 100;
const RESTART_MS = 400;

export interface NodeParts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  /** Whether several nodes use the database. */
  readonly shared: boolean;
  /** Called with errors that the learner or the follower reports. */
  readonly onError: (process: SimulatedProcess, error: unknown) => void;
}

/** A machine that runs one process of Joust at a time. Its wall clock may be wrong. */
export class SimulatedNode {
  readonly name: string;
  readonly parts: NodeParts;
  /** Difference of the wall clock from the true time. */
  skewMs = 0;
  isCut = false;
  /** The process that runs now, if any. */
  process: SimulatedProcess | undefined;
  #starts = 0;
  #isStopping = false;

  constructor(name: string, parts: NodeParts) {
    this.name = name;
    this.parts = parts;
  }

  /** Starts a process, and another one if the store is unavailable during the start. */
  boot(): void {
    if (this.process) return;
    const process = new SimulatedProcess(this, `${this.name}${++this.#starts}`);
    this.process = process;
    process.start().catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) this.parts.onError(process, error);
      this.kill();
      this.parts.scheduler.after(RESTART_MS, () => this.boot());
    });
  }

  /** Ends the process at once. Everything in its memory is lost. */
  kill(): void {
    if (!this.process) return;
    this.parts.scheduler.note(this.process.name, "killed");
    this.process.isDead = true;
    this.process = undefined;
    this.#isStopping = false;
  }

  /** Nothing in the process runs for some time; the store executes what was sent before. */
  pause(milliseconds: number): void {
    if (!this.process) return;
    this.parts.scheduler.note(this.process.name, `paused for ${milliseconds.toFixed(0)} ms`);
    this.process.pausedUntil = this.parts.scheduler.time + milliseconds;
  }

  /** Ends the process as SIGTERM does, then starts the next one. */
  async restart(): Promise<void> {
    const { process } = this;
    if (!process?.isReady || this.#isStopping) return;
    this.#isStopping = true;
    this.parts.scheduler.note(process.name, "stops");
    // A supervisor kills a process that does not stop.
    this.parts.scheduler.after(STOP_MS, () => this.#replace(process));
    await process.stop();
    this.#replace(process);
  }

  #replace(process: SimulatedProcess): void {
    if (this.process !== process) return;
    this.kill();
    this.boot();
  }
}

const STOP_MS = 3000;

/** One process of Joust without HTTP: it accepts votes, learns and follows, until it ends. */
export class SimulatedProcess implements Peer {
  readonly name: string;
  readonly node: SimulatedNode;
  readonly store: Store;
  readonly log: GroupCommit;
  isDead = false;
  pausedUntil = 0;
  /** True after the start until the process stops. */
  isReady = false;
  readonly #follower: Follower;
  readonly #learner: Learner;
  /** Time that the process has spent computing, which moves its clock on. */
  #busyMs = 0;

  constructor(node: SimulatedNode, name: string) {
    const { network, shared, onError } = node.parts;
    this.node = node;
    this.name = name;
    this.store = network.storeOf(this, shared);
    const timers = this.#timers();
    const common = { store: this.store, router: "auto", findPolicy, timers };
    const report = (error: unknown) => onError(this, error);
    this.log = new GroupCommit(this.store, { voteMs: 1500 }, timers);
    this.#follower = new Follower({ ...common, pollMs: POLL_MS, onError: report });
    this.#learner = new Learner({
      ...common,
      holder: name,
      settings: { leaseMs: LEASE_MS, pollMs: POLL_MS, saveMs: SAVE_MS },
      onLearned: (fold) => this.#follower.adopt(fold),
      onError: report,
    });
  }

  get isCut(): boolean {
    return this.node.isCut;
  }

  get serving(): ServedRouter | undefined {
    return this.#follower.serving;
  }

  /** Whether the process holds the lease, as far as it knows. */
  get isLearner(): boolean {
    return this.#learner.fold !== undefined;
  }

  /** The wall clock of the node. */
  date(): number {
    return Math.round(T0 + this.node.parts.scheduler.time + this.node.skewMs);
  }

  async start(): Promise<void> {
    this.node.parts.scheduler.note(this.name, "starts");
    await this.#follower.start();
    this.#learner.start();
    this.isReady = true;
  }

  async stop(): Promise<void> {
    this.isReady = false;
    await this.log.close();
    await this.#learner.stop();
    await this.#follower.stop();
  }

  #timers(): Timers {
    const { scheduler } = this.node.parts;
    return {
      now: () => {
        if (scheduler.chance(0.03)) this.#busyMs += scheduler.between(0, 8);
        return scheduler.time + this.#busyMs;
      },
      date: () => this.date(),
      after: (milliseconds, run) => scheduler.after(milliseconds, run, this),
      yield: () =>
        new Promise((resolve) => void scheduler.after(scheduler.between(0, 1), resolve, this)),
    };
  }
}
