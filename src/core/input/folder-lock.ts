import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: (() => void) | undefined;
  /** Milliseconds between two attempts to take the lock. */
  readonly poll?: number | undefined;
}

/**
 * Runs `work` while this process holds a lock file. The holder touches the file
 * every few seconds. A lock is abandoned if it was not touched for a minute, or if
 * its process on this machine no longer runs. If two processes take over an abandoned
 * lock at the same instant, both run `work`, so `work` must tolerate that.
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
    return false; // it was removed just now, or is not completely written yet
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

/** Removes a lock. The rename succeeds in only one of several processes that try. */
async function discard(file: string): Promise<void> {
  const aside = `${file}.${process.pid}.old`;
  await rename(file, aside).catch(() => {});
  await rm(aside, { force: true });
}
