/** A task done where one is: the same by a thread of this process and by a process elsewhere. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { withLock } from "../../core/input/folder-lock.ts";
import { type Context, type FileRef, type Kind, Stopped, type Task } from "./job.ts";
import type { Store } from "./store.ts";

export interface WorkplaceOptions {
  readonly store: Store;
  /** Holds what jobs have begun, in work/KEY. */
  readonly folder: string;
  /** Paths of files, by their checksum. */
  readonly files: Readonly<Record<string, string>>;
  readonly places: EncoderPlaces;
  stopped(): boolean;
}

/** What a worker keeps from job to job. */
export class Workplace {
  readonly options: WorkplaceOptions;
  readonly #memos = new Map<string, Promise<unknown>>();

  constructor(options: WorkplaceOptions) {
    this.options = options;
  }

  memo<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#memos.get(key) ?? make();
    // The one used last stands last; the first goes.
    this.#memos.delete(key);
    this.#memos.set(key, known);
    known.catch(() => this.#memos.delete(key));
    if (this.#memos.size > MOST_MEMOS) this.#memos.delete(this.#memos.keys().next().value!);
    return known as Promise<T>;
  }
}

/** Where a file is kept that came from elsewhere. */
export function filePath(folder: string, { sha256, name }: FileRef): string {
  return join(folder, "files", sha256, name);
}

/** Data sets and vectors: some 50 MB each at most. */
const MOST_MEMOS = 6;

export async function performTask(
  { key, kind, spec, inputs }: Task,
  kinds: Readonly<Record<string, Kind>>,
  workplace: Workplace,
): Promise<void> {
  const { store, files, places, stopped } = workplace.options;
  const own = join(workplace.options.folder, "work", key);
  const check = () => {
    if (stopped()) throw new Stopped();
  };
  const context: Context = {
    input: (id) => workplace.memo(`input ${inputs[id]}`, () => store.get(inputs[id]!)),
    path: (file) => files[file.sha256] ?? filePath(workplace.options.folder, file),
    places,
    async folder() {
      await mkdir(own, { recursive: true });
      return own;
    },
    memo: (key, make) => workplace.memo(key, make),
    check,
  };
  check();
  const work = async () => {
    if ((await store.find(key)) !== undefined) return;
    await store.put(key, await kinds[kind]!.perform(spec, context));
    await rm(own, { recursive: true, force: true });
  };
  // Two programs may share the folder, and an hour's work is not to be done twice.
  await lockedUnless(stopped, `${own}.lock`, work);
}

/** Waits for another who does the same, but no longer than until it is told to stop. */
async function lockedUnless(
  stopped: () => boolean,
  file: string,
  work: () => Promise<void>,
): Promise<void> {
  const waiting = new AbortController();
  const timer = setInterval(() => stopped() && waiting.abort(new Stopped()), 200);
  try {
    await withLock(file, work, { signal: waiting.signal });
  } catch (error) {
    throw waiting.signal.aborted ? new Stopped() : error;
  } finally {
    clearInterval(timer);
  }
}
