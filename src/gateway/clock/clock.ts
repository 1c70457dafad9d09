import { setTimeout as wait } from "node:timers/promises";

/** Source of time. Tests pass one that they control. */
export interface Clock {
  /** Monotonic time in milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Rejects with the signal's reason when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};
