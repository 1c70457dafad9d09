import { type Thread, ThreadEnded } from "./thread.ts";

/**
 * Threads that share jobs. Each thread runs one job at a time; further jobs wait in a
 * queue. A thread starts when it is first needed, and again after a crash.
 */
export class Pool<M extends object> {
  readonly #start: (slot: number) => Thread<M>;
  readonly #threads: (Thread<M> | undefined)[];
  readonly #free: number[];
  readonly #queue: ((slot: number) => void)[] = [];
  #isClosed = false;

  /** `start` starts the thread of a slot, 0 <= slot < size. */
  constructor(size: number, start: (slot: number) => Thread<M>) {
    this.#start = start;
    this.#threads = new Array(size).fill(undefined);
    this.#free = [...this.#threads.keys()].reverse();
  }

  /** Runs a job on the next free thread. */
  async run<T>(job: (methods: Thread<M>["methods"], slot: number) => Promise<T>): Promise<T> {
    const slot = this.#free.pop() ?? (await new Promise<number>((got) => this.#queue.push(got)));
    try {
      if (this.#isClosed) throw new ThreadEnded();
      return await job(this.#threadOf(slot).methods, slot);
    } finally {
      const next = this.#queue.shift();
      if (next) next(slot);
      else this.#free.push(slot);
    }
  }

  /** Ends the threads after their calls; jobs in the queue are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread?.close()));
  }

  /** Ends the threads at once. See `Thread.terminate`. */
  async terminate(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread?.terminate()));
  }

  #threadOf(slot: number): Thread<M> {
    const running = this.#threads[slot];
    if (running && !running.isEnded) return running;
    const thread = this.#start(slot);
    this.#threads[slot] = thread;
    return thread;
  }
}
