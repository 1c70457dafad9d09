import { StoreUnavailable } from "./store-error.ts";
import type { CancelTimer, Timers } from "./timers.ts";

/**
 * A queue whose entries are written in batches, because a commit costs an fsync. If one entry
 * makes its batch fail, the entries of the batch are written one by one.
 *
 * While the store is unavailable, an empty batch is tried now and then. Entries whose caller waits
 * are rejected, because a queued vote could be lost; the others stay in the queue.
 */
export class Lane<E, R> {
  readonly #write: (entries: readonly E[]) => Promise<readonly R[]>;
  readonly #settings: LaneSettings;
  readonly #timers: Timers;
  readonly #queue: Item<E, R>[] = [];
  /** Number of entries to write one by one, because one of them made their common transaction fail. */
  #suspects = 0;
  #cancelTimer: CancelTimer | undefined;
  #running: Promise<void> | undefined;
  #isDown = false;
  #backOff = FIRST_BACK_OFF;
  #draining = false;
  #closed = false;
  readonly #stats = { logged: 0, commits: 0, failedCommits: 0, dropped: 0 };

  /** `write` returns one result per entry and throws StoreUnavailable if nothing can be written. */
  constructor(
    write: (entries: readonly E[]) => Promise<readonly R[]>,
    settings: LaneSettings,
    timers: Timers,
  ) {
    this.#write = write;
    this.#settings = settings;
    this.#timers = timers;
  }

  /** Queues an entry that nobody waits for. Returns false if the queue is full and it was dropped. */
  add(entry: E): boolean {
    if (this.#closed || this.#queue.length >= this.#settings.maxQueue) {
      this.#stats.dropped++;
      return false;
    }
    this.#queue.push({ entry });
    this.#schedule();
    return true;
  }

  /** Writes an entry and resolves to its result. Rejects with StoreUnavailable after `timeoutMs`. */
  submit(entry: E, timeoutMs: number): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    if (this.#closed) reject(new StoreUnavailable("it is closed"));
    else if (this.#isDown) reject(this.#unavailable("the last write failed"));
    else if (this.#queue.length >= this.#settings.maxQueue) {
      reject(this.#unavailable("too many entries are waiting"));
    } else {
      // The entry may still be written afterwards. Sending it again is safe.
      const late = () => reject(this.#unavailable("the database does not answer"));
      const cancel = this.#timers.after(timeoutMs, late, true);
      promise.finally(cancel).catch(() => {});
      this.#queue.push({ entry, resolve, reject });
      this.#schedule();
    }
    return promise;
  }

  /** Counts since the start, the length of the queue, and whether the store is down. */
  get stats() {
    return { ...this.#stats, waiting: this.#queue.length, down: this.#isDown };
  }

  /** Tries to write the whole queue. */
  async flush(): Promise<void> {
    await this.#running;
    this.#draining = true;
    await this.#start().finally(() => {
      this.#draining = false;
    });
  }

  /** Writes the whole queue. Entries that cannot be written are dropped and counted. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    this.#cancelTimer?.();
    this.#stats.dropped += this.#queue.length;
    for (const { reject } of this.#queue.splice(0)) reject?.(new StoreUnavailable("it is closed"));
  }

  #schedule(): void {
    if (this.#running || this.#isDown) return;
    const { delayMs, maxBatch } = this.#settings;
    if (delayMs === 0 || this.#queue.length >= maxBatch) this.#start();
    else this.#cancelTimer ??= this.#timers.after(delayMs, () => this.#start(), true);
  }

  #start(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#queue.length > 0 && !this.#closed) this.#schedule();
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    // Entries queued in the same tick of the event loop share the commit.
    await Promise.resolve();
    const { delayMs, maxBatch } = this.#settings;
    // If the store was down, an empty batch tests whether it is available again.
    while (this.#queue.length > 0 || this.#isDown) {
      const batch = this.#queue.splice(0, this.#suspects > 0 ? 1 : maxBatch);
      this.#suspects = Math.max(0, this.#suspects - 1);
      if (!(await this.#commit(batch))) return;
      if (delayMs > 0 && this.#suspects === 0 && !this.#draining) return;
    }
  }

  /** Writes one batch. Returns false if the store is unavailable. */
  async #commit(batch: readonly Item<E, R>[]): Promise<boolean> {
    try {
      const results = await this.#write(batch.map(({ entry }) => entry));
      this.#stats.commits++;
      this.#stats.logged += batch.length;
      if (this.#isDown) this.#settings.onUp?.();
      this.#isDown = false;
      this.#backOff = FIRST_BACK_OFF;
      batch.forEach(({ resolve }, i) => {
        resolve?.(results[i]!);
      });
      return true;
    } catch (error) {
      this.#stats.failedCommits++;
      if (error instanceof StoreUnavailable) {
        this.#goDown(batch, error);
        return false;
      }
      if (batch.length === 0) {
        // Even an empty batch fails, so the store is still down, whatever the error is.
        this.#tryLater();
        return false;
      }
      if (batch.length > 1) {
        this.#queue.unshift(...batch);
        this.#suspects = batch.length;
        return true;
      }
      if (batch[0]?.reject) batch[0].reject(error);
      else this.#stats.dropped++;
      return true;
    }
  }

  /** Rejects entries whose callers wait, keeps the others and schedules the next attempt. */
  #goDown(batch: readonly Item<E, R>[], error: StoreUnavailable): void {
    if (!this.#isDown) this.#settings.onDown?.(error);
    this.#isDown = true;
    this.#suspects = 0;
    const all = [...batch, ...this.#queue];
    this.#queue.splice(0, this.#queue.length, ...all.filter(({ reject }) => !reject));
    for (const { reject } of all) reject?.(error);
    this.#tryLater();
  }

  #tryLater(): void {
    if (this.#closed) return;
    this.#cancelTimer = this.#timers.after(this.#backOff, () => this.#start());
    this.#backOff = Math.min(2 * this.#backOff, LAST_BACK_OFF);
  }

  #unavailable(reason: string): StoreUnavailable {
    return new StoreUnavailable(reason, Math.max(1, Math.ceil(this.#backOff / 1000)));
  }
}

interface Item<E, R> {
  readonly entry: E;
  readonly resolve?: (result: R) => void;
  readonly reject?: (error: unknown) => void;
}

export interface LaneSettings {
  /** Longest time that an entry waits for others to share its commit; 0 to write at once. */
  readonly delayMs: number;
  /** Largest number of entries in one transaction. */
  readonly maxBatch: number;
  /** Largest number of entries in the queue. */
  readonly maxQueue: number;
  /** Called when the store becomes unavailable. */
  readonly onDown?: (error: StoreUnavailable) => void;
  /** Called when the store is available again. */
  readonly onUp?: () => void;
}

const FIRST_BACK_OFF = 100;
const LAST_BACK_OFF = 5000;
