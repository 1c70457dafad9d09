import type { Timers } from "../store/timers.ts";

/** Lets a loop sleep until it is woken or a time has passed. */
export class Sleeper {
  readonly #timers: Timers;
  #isWoken = false;
  #resolve: (() => void) | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Ends the current sleep or, if there is none, the next one at once. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const cancel = this.#timers.after(Math.max(0, milliseconds), resolve);
      await promise;
      cancel();
      this.#resolve = undefined;
    }
    this.#isWoken = false;
  }
}
