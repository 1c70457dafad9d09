import { setTimeout as wait } from "node:timers/promises";

/** Time, passed in so that tests own it. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Rejects with the signal's reason when it fires. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};
