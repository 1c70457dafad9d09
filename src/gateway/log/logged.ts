import type { GroupCommit } from "../../store/group-commit.ts";

/** Waits until all events so far are in the store. Returns at once while the store is down. */
export async function logged(log: Pick<GroupCommit, "stats" | "flush">): Promise<void> {
  if (log.stats.waiting > 0 && !log.stats.down) await log.flush();
}
