import { setImmediate } from "node:timers/promises";
import { invalidValue } from "../core/errors/joust-error.ts";
import type { PruneReport } from "./store.ts";

/** Prunes in steps of limited size until nothing is left, so that appends never wait long. */
export async function pruneInSteps(
  step: (limit: number) => PruneReport | Promise<PruneReport>,
): Promise<PruneReport> {
  const total = { prompts: 0, decisions: 0, votes: 0 };
  for (;;) {
    const { prompts, decisions, votes } = await step(STEP);
    total.prompts += prompts;
    total.decisions += decisions;
    total.votes += votes;
    if (Math.max(prompts, decisions, votes) < STEP) return total;
    await setImmediate();
  }
}

const STEP = 500;

/** The error for pruning votes up to a position without a snapshot, which would lose what they taught. */
export function noSnapshot(router: string, position: number): RangeError {
  return invalidValue(
    `no snapshot of ${router} at ${position}`,
    "prune votes up to the position of a snapshot",
  );
}
