import type { Clock } from "../clock/clock.ts";

/** Counts what was used in the last minute, in slices of a second, against a limit. */
export class MinuteWindow {
  readonly #limit: number;
  readonly #clock: Clock;
  /** Used amounts by second, the oldest first. */
  readonly #slices: { readonly second: number; used: number }[] = [];
  #sum = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Adds an amount; a negative one gives a part back. */
  add(amount: number): void {
    const second = this.#forget();
    const last = this.#slices.at(-1);
    if (last?.second === second) last.used += amount;
    else this.#slices.push({ second, used: amount });
    this.#sum += amount;
  }

  /**
   * Milliseconds until an amount fits below the limit; 0 if it does now. An amount above the limit fits into an empty
   * window, because it would never fit otherwise.
   */
  wait(amount: number): number {
    this.#forget();
    let left = this.#sum;
    if (left <= 0 || left + amount <= this.#limit) return 0;
    for (const { second, used } of this.#slices) {
      left -= used;
      if (left <= 0 || left + amount <= this.#limit) {
        return Math.max(1, (second + SECONDS) * 1000 - this.#clock.now());
      }
    }
    return 1000;
  }

  /** Forgets what is older than a minute, and returns the present second. */
  #forget(): number {
    const second = Math.floor(this.#clock.now() / 1000);
    while (this.#slices.length > 0 && this.#slices[0]!.second <= second - SECONDS) {
      this.#sum -= this.#slices.shift()!.used;
    }
    return second;
  }
}

const SECONDS = 60;
