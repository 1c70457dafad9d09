import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once where another process has the lock. */
  readonly onWait?: (() => void) | undefined;
  /** Milliseconds between two looks at a lock that another process has. */
  readonly poll?: number | undefined;
}

/**
 * Does the work while it holds a lock file, of which there is one. The holder
 * touches the file as long as it lives; a lock that was not touched for a
 * minute, or whose process on this machine is gone, is nobody's. Should two take
 * such a lock over in the same instant, both do the work: they only lose time,
 * for every file is checked before it counts.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  { signal, onWait, poll = 500 }: LockOptions = {},
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  let waited = false;
  while (!(await take(file))) {
    if (await isAbandoned(file)) {
      await discard(file);
      continue;
    }
    if (!waited) onWait?.();
    waited = true;
    await setTimeout(poll, undefined, signal ? { signal } : {});
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => {});
  }, BEAT);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(file, { force: true });
  }
}

const BEAT = 5_000;
const ABANDONED = 60_000;

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify({ host: hostname(), pid: process.pid }), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  try {
    if (Date.now() - (await stat(file)).mtimeMs > ABANDONED) return true;
    const { host, pid } = JSON.parse(await readFile(file, "utf8")) as { host: string; pid: number };
    return host === hostname() && !isRunning(pid);
  } catch {
    return false; // gone meanwhile, or not yet written whole
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** By renaming first: of several that try, one succeeds. */
async function discard(file: string): Promise<void> {
  const aside = `${file}.${process.pid}.old`;
  await rename(file, aside).catch(() => {});
  await rm(aside, { force: true });
}
