import type { GroupCommit } from "../../store/group-commit.ts";

/** A log whose queues can be written at once. */
export interface Flushable extends Pick<GroupCommit, "stats" | "flush"> {
  /** Writes the queues of the other processes of this machine. */
  flushOthers?(): Promise<void>;
}

/** Waits until all events so far are in the store. Returns at once while the store is down. */
export async function logged(log: Flushable): Promise<void> {
  await loggedHere(log);
  if (!log.stats.down) await log.flushOthers?.();
}

/** Waits until all events so far of this process are in the store. Returns at once while the store is down. */
export async function loggedHere(log: Flushable): Promise<void> {
  if (log.stats.waiting > 0 && !log.stats.down) await log.flush();
}
