import { setTimeout as sleep } from "node:timers/promises";
import type { Decision } from "./decision.ts";
import type { Answered, Control, VoteRequest } from "./events.ts";
import type { Entry, Receipt, Store } from "./store.ts";
import { StoreUnavailable, VoteRefused } from "./store-error.ts";

/**
 * The queue in front of the log. A commit costs an fsync, so the entries of many requests share
 * one commit. A vote is committed at once together with everything queued before it, including
 * its own decision. Decisions and answers wait for up to `delayMs` so that more can join them.
 *
 * While the store is unavailable, votes are refused because a queued vote could be lost.
 * Decisions stay in the queue up to a limit; beyond it they are dropped and counted.
 */
export class GroupCommit {
  readonly #store: Store;
  readonly #settings: GroupCommitSettings;
  readonly #queue: Item[] = [];
  /** Number of queued votes and controls, whose callers are waiting. */
  #urgent = 0;
  /** Number of entries to write one by one, because one of them made their common transaction fail. */
  #suspects = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isDown = false;
  #backOff = FIRST_BACK_OFF;
  #draining = false;
  #closed = false;
  readonly #stats = { logged: 0, commits: 0, failedCommits: 0, dropped: 0 };

  constructor(store: Store, settings: Partial<GroupCommitSettings> = {}) {
    this.#store = store;
    this.#settings = { ...DEFAULTS, ...settings };
  }

  /** Queues an event, which is durable within `delayMs` and one commit. Returns false if it was dropped. */
  log(event: Decision | Answered): boolean {
    if (this.#closed || this.#queue.length >= this.#settings.maxQueue) {
      this.#stats.dropped++;
      return false;
    }
    this.#queue.push({ entry: event });
    this.#schedule();
    return true;
  }

  /** Logs a vote, which is durable when the promise resolves. Throws VoteRefused, or StoreUnavailable, after which the vote can be sent again. */
  async vote(request: VoteRequest): Promise<"logged" | "repeated"> {
    let receipt = await this.#record(request);
    if (receipt.status === "refused" && receipt.reason === "unknown" && this.#store.shared) {
      // The decision may still be in the queue of another node.
      await sleep(2 * this.#settings.delayMs);
      receipt = await this.#record(request);
    }
    if (receipt.status === "refused") throw new VoteRefused(receipt.reason);
    return receipt.status;
  }

  /** Logs a control, which is durable when the promise resolves to its position. */
  async control(event: Control): Promise<number> {
    const receipt = await this.#record(event);
    if (receipt.status !== "logged") throw new Error(`${event.kind} was not logged`);
    return receipt.position;
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
    clearTimeout(this.#timer);
    this.#stats.dropped += this.#queue.length;
    for (const { reject } of this.#queue.splice(0)) reject?.(new StoreUnavailable("it is closed"));
  }

  #record(entry: VoteRequest | Control): Promise<Receipt> {
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    if (this.#closed) reject(new StoreUnavailable("it is closed"));
    else if (this.#isDown) reject(this.#unavailable("the last write failed"));
    else if (this.#urgent >= this.#settings.maxVotes)
      reject(this.#unavailable("too many votes are waiting"));
    else {
      this.#urgent++;
      this.#queue.push({ entry, resolve, reject });
      this.#schedule();
    }
    return promise;
  }

  #schedule(): void {
    if (this.#running || this.#isDown) return;
    if (this.#urgent > 0 || this.#queue.length >= this.#settings.maxBatch) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#settings.delayMs);
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#queue.length > 0 && !this.#closed) this.#schedule();
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    // Entries queued in the same tick of the event loop share the commit.
    await Promise.resolve();
    // If the store was down, an empty batch tests whether it is available again.
    while (this.#queue.length > 0 || this.#isDown) {
      const size = this.#suspects > 0 ? 1 : this.#settings.maxBatch;
      const batch = this.#queue.splice(0, size);
      this.#suspects = Math.max(0, this.#suspects - 1);
      if (!(await this.#commit(batch))) return;
      if (this.#urgent === 0 && this.#suspects === 0 && !this.#draining) return;
    }
  }

  /** Writes one batch. Returns false if the store is unavailable. */
  async #commit(batch: readonly Item[]): Promise<boolean> {
    const urgent = batch.filter(({ resolve }) => resolve).length;
    try {
      const receipts = await this.#store.append(batch.map(({ entry }) => entry));
      this.#urgent -= urgent;
      this.#stats.commits++;
      this.#stats.logged += batch.length;
      this.#isDown = false;
      this.#backOff = FIRST_BACK_OFF;
      batch.forEach(({ resolve }, i) => {
        resolve?.(receipts[i]!);
      });
      return true;
    } catch (error) {
      this.#stats.failedCommits++;
      if (error instanceof StoreUnavailable) {
        this.#goDown(batch, error);
        return false;
      }
      if (batch.length > 1) {
        this.#queue.unshift(...batch);
        this.#suspects = batch.length;
        return true;
      }
      this.#urgent -= urgent;
      if (batch[0]!.reject) batch[0]!.reject(error);
      else this.#stats.dropped++;
      return true;
    }
  }

  /** Rejects all waiting votes and controls, keeps decisions in the queue and schedules the next attempt. */
  #goDown(batch: readonly Item[], error: StoreUnavailable): void {
    this.#isDown = true;
    this.#queue.unshift(...batch);
    const urgent = this.#queue.filter(({ reject }) => reject);
    const rest = this.#queue.filter(({ reject }) => !reject);
    this.#queue.splice(0, this.#queue.length, ...rest);
    this.#urgent = 0;
    this.#suspects = 0;
    for (const { reject } of urgent) reject!(error);
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.#start(), this.#backOff);
    this.#timer.unref();
    this.#backOff = Math.min(2 * this.#backOff, LAST_BACK_OFF);
  }

  #unavailable(reason: string): StoreUnavailable {
    return new StoreUnavailable(reason, Math.max(1, Math.ceil(this.#backOff / 1000)));
  }
}

interface Item {
  readonly entry: Entry;
  readonly resolve?: (receipt: Receipt) => void;
  readonly reject?: (error: unknown) => void;
}

export interface GroupCommitSettings {
  /** Longest time that a decision waits in the queue. Together with the commit it stays well below 100 ms. */
  readonly delayMs: number;
  /** Largest number of entries in one transaction. */
  readonly maxBatch: number;
  /** Largest number of entries in the queue. */
  readonly maxQueue: number;
  /** Largest number of votes and controls in the queue. */
  readonly maxVotes: number;
}

const DEFAULTS: GroupCommitSettings = {
  delayMs: 50,
  maxBatch: 500,
  maxQueue: 10_000,
  maxVotes: 5000,
};

const FIRST_BACK_OFF = 100;
const LAST_BACK_OFF = 5000;
