import { availableParallelism } from "node:os";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { work } from "../../lab/jobs/work.ts";
import { interruptible } from "../shared/interrupt.ts";
import { KINDS, openCache } from "./cache.ts";

export interface WorkFlags {
  readonly workers: string;
  readonly models?: string | undefined;
  readonly threads?: number | undefined;
  readonly cache?: string | undefined;
}

/** Runs jobs until Ctrl-C or SIGTERM. Returns the exit code. */
export async function runWork(flags: WorkFlags): Promise<number> {
  const { workers: url, models, threads = availableParallelism(), cache } = flags;
  const store = await openCache(cache);
  const interrupt = interruptible();
  try {
    await work({
      url,
      threads,
      kinds: KINDS,
      store,
      places: encoderPlaces(models),
      signal: interrupt.signal,
      onTask: ({ kind, key }, state) =>
        process.stderr.write(`${state} ${kind} ${key.slice(0, 12)}\n`),
    });
  } finally {
    interrupt.release();
  }
  return interrupt.code;
}
