import { setImmediate } from "node:timers/promises";
import { invalidValue } from "../core/errors/joust-error.ts";

/** Deletes in steps of limited size until nothing is left, so that appends never wait long. */
export async function pruneInSteps(
  step: (limit: number) => number | Promise<number>,
): Promise<number> {
  for (let total = 0; ; ) {
    const count = await step(STEP);
    total += count;
    if (count < STEP) return total;
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
