/**
 * Lets answers be read in small portions, so that answers which arrive faster than they can be passed
 * on do not delay other requests. Node reads up to 2 MB from one connection before it looks at
 * any other, so 270 fast streams occupied the gateway for seconds. An answer waits here after each
 * portion, and the event loop handles everything else before the next few continue.
 */
export class ReadQueue {
  readonly #waiting = new Set<() => void>();
  #isScheduled = false;

  /** Calls back when the next portion may be read. */
  wait(resume: () => void): void {
    this.#waiting.add(resume);
    this.#schedule();
  }

  leave(resume: () => void): void {
    this.#waiting.delete(resume);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    let count = 0;
    for (const resume of this.#waiting) {
      if (count++ === AT_A_TIME) break;
      this.#waiting.delete(resume);
      resume();
    }
    this.#schedule();
  };
}

/** Bytes of an answer that are read at once. */
export const PORTION = 64 * 1024;
/** Answers that continue in one iteration of the event loop: together 1 MB, which takes some milliseconds. */
const AT_A_TIME = 16;
