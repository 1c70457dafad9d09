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

  /**
   * Adds an amount, or corrects one that was added `age` milliseconds ago. The correction goes to the second of the
   * first amount, so that both leave the window together. After that, a negative correction is dropped: it would be
   * credit for something that no longer counts.
   */
  add(amount: number, age = 0): void {
    const present = this.#forget();
    const second = Math.floor((this.#clock.now() - age) / 1000);
    let slice = this.#slices.findLast((one) => one.second === second);
    if (!slice && amount > 0) {
      slice = this.#slices.at(-1);
      if (slice?.second !== present) {
        slice = { second: present, used: 0 };
        this.#slices.push(slice);
      }
    }
    if (!slice) return;
    const change = Math.max(amount, -slice.used);
    slice.used += change;
    this.#sum += change;
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
