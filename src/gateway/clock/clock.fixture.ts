import type { Clock } from "./clock.ts";

/** A clock that moves only by `pass` and `sleep`. */
export class StandingClock implements Clock {
  readonly sleeps: number[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  date(): number {
    return 1_800_000_000_000 + this.#now;
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.sleeps.push(milliseconds);
    this.#now += milliseconds;
  }
}
