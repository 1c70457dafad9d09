import { setImmediate } from "node:timers/promises";

/** Time and waiting as an argument. Programs use `systemTimers`; the simulator passes virtual time. */
export interface Timers {
  /** Monotonic time in milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /**
   * Calls `run` once after some time. Returns a function that cancels the call. A timer does not
   * keep the process running unless `keepsAlive` is set.
   */
  after(milliseconds: number, run: () => void, keepsAlive?: boolean): CancelTimer;
  /** Resolves after other work that waits for the thread has run. */
  yield(): Promise<void>;
}

export type CancelTimer = () => void;

export const systemTimers: Timers = {
  now: () => performance.now(),
  date: () => Date.now(),
  after(milliseconds, run, keepsAlive = false) {
    const timer = setTimeout(run, milliseconds);
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
  yield: () => setImmediate(),
};
