import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { cacheFolder } from "../../core/encoder/common/find-model.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { moduleUrl } from "../../core/input/project.ts";
import { FolderStore } from "../../lab/jobs/store.ts";
import { work } from "../../lab/jobs/work.ts";
import { interruptible } from "../shared/interrupt.ts";

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

/** The module with the kinds of jobs, which worker threads load. */
export const KINDS = moduleUrl(new URL("../../lab/reproduce/jobs/kinds.ts", import.meta.url));

/** The cache of job results in a folder, by default in the user's cache. */
export function cacheOf(folder: string | undefined): FolderStore {
  return new FolderStore(folder ?? join(cacheFolder(process.env, homedir()), "reproduce"));
}

/** Opens the cache for writing. */
export async function openCache(folder: string | undefined): Promise<FolderStore> {
  const store = cacheOf(folder);
  await store.open();
  return store;
}
