import { setImmediate } from "node:timers/promises";
import type { Random } from "../../src/core/random/random.ts";
import type { CancelTimer } from "../../src/store/timers.ts";

/** A process whose tasks wait while it is paused and are dropped when it has died. */
export interface Owner {
  readonly name: string;
  readonly isDead: boolean;
  /** Virtual time until which the process does not run. */
  readonly pausedUntil: number;
}

interface Task {
  readonly time: number;
  /** Random order of tasks that are due at the same time. */
  readonly order: number;
  readonly owner: Owner | undefined;
  run: (() => void) | undefined;
}

/**
 * Virtual time, and everything that waits for it. One task runs at a time, then everything that its
 * promises trigger. All random numbers come from one seed, so the same seed gives the same order.
 */
export class Scheduler {
  readonly random: Random;
  /** One line per event of the simulation, or undefined if no trace is wanted. */
  readonly trace: string[] | undefined;
  /** Milliseconds since the start of the simulation. */
  time = 0;
  /** Number of tasks that have run. */
  steps = 0;
  /** The last task to run is first. */
  readonly #tasks: Task[] = [];

  constructor(random: Random, isTraced = false) {
    this.random = random;
    this.trace = isTraced ? [] : undefined;
  }

  note(who: string, text: string): void {
    this.trace?.push(`${this.time.toFixed(3).padStart(10)} ${who.padEnd(4)} ${text}`);
  }

  after(milliseconds: number, run: () => void, owner?: Owner): CancelTimer {
    const task = { time: this.time + milliseconds, order: this.random.uniform(), owner, run };
    this.#insert(task);
    return () => {
      (task as Task).run = undefined;
    };
  }

  /** Resolves after some time. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.after(milliseconds, resolve));
  }

  /** True with a probability. */
  chance(probability: number): boolean {
    return probability > 0 && this.random.uniform() < probability;
  }

  /** A number between two limits. */
  between(low: number, high: number): number {
    return low + (high - low) * this.random.uniform();
  }

  /** Runs the next task and everything that its promises trigger. Returns false if there is none. */
  async step(): Promise<boolean> {
    const task = this.#tasks.pop();
    if (!task) return false;
    const { run, owner, time } = task;
    if (!run || owner?.isDead) return true;
    this.time = Math.max(this.time, time);
    if (owner && owner.pausedUntil > this.time) {
      this.#insert(Object.assign(task, { time: owner.pausedUntil, order: this.random.uniform() }));
      return true;
    }
    this.steps++;
    task.run = undefined;
    run();
    // Promises settle before the next task runs.
    await this.idle();
    return true;
  }

  /** Resolves when the promises that are ready have settled. */
  async idle(): Promise<void> {
    await setImmediate();
  }

  #insert(task: Task): void {
    let low = 0;
    let high = this.#tasks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(task, this.#tasks[middle]!)) low = middle + 1;
      else high = middle;
    }
    this.#tasks.splice(low, 0, task);
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
