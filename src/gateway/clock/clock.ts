import { setTimeout as wait } from "node:timers/promises";
import type { Timers } from "../../store/timers.ts";

/** Source of time. Tests pass one that they control. */
export interface Clock extends Pick<Timers, "now" | "date"> {
  /** Rejects with the signal's reason when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};
