import type { Clock } from "../../clock/clock.ts";

export interface TimeLimits {
  /** Time until a stream begins. */
  readonly firstByteMs: number;
  /** Time between two chunks of an answer, except while the client is slow. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * Enforces the time limits of an answer. There is one timer, which checks the times of the chunks
 * and sets itself again, so that a chunk only costs reading the clock.
 */
export class Watch {
  readonly startedAt: number;
  /** Time of the first byte; NaN until it arrives. */
  firstByteAt = Number.NaN;
  readonly #limits: TimeLimits;
  readonly #stream: boolean;
  readonly #clock: Clock;
  readonly #onLate: (missing: string) => void;
  #lastByteAt = Number.NaN;
  #isPaused = false;
  #timer: NodeJS.Timeout | undefined;

  /** A complete answer arrives as late as the end of a stream, so it has no limit to its first byte. */
  constructor(
    limits: TimeLimits,
    stream: boolean,
    clock: Clock,
    onLate: (missing: string) => void,
  ) {
    this.#limits = limits;
    this.#stream = stream;
    this.#clock = clock;
    this.#onLate = onLate;
    this.startedAt = clock.now();
    this.#check();
  }

  sawByte(): void {
    this.#lastByteAt = this.#clock.now();
    if (Number.isNaN(this.firstByteAt)) this.firstByteAt = this.#lastByteAt;
  }

  /** The upstream is paused because the client is slow. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#lastByteAt = this.#clock.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #check = (): void => {
    const { idleMs } = this.#limits;
    const now = this.#clock.now();
    const { due, missing } = this.#next();
    if (now >= due) this.#onLate(missing);
    // Check again within the shortest limit, which may apply by then.
    else this.#timer = setTimeout(this.#check, Math.max(1, Math.min(due - now, idleMs)));
  };

  #next(): { due: number; missing: string } {
    const { firstByteMs, idleMs, totalMs } = this.#limits;
    const all = {
      due: this.startedAt + totalMs,
      missing: `a complete answer within ${totalMs} ms`,
    };
    const next = Number.isNaN(this.firstByteAt)
      ? { due: this.startedAt + firstByteMs, missing: `a first byte within ${firstByteMs} ms` }
      : { due: this.#lastByteAt + idleMs, missing: `anything for ${idleMs} ms` };
    const isWaiting = Number.isNaN(this.firstByteAt) ? this.#stream : !this.#isPaused;
    return isWaiting && next.due < all.due ? next : all;
  }
}
