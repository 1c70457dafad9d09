import type { Clock } from "../../clock/clock.ts";

export interface TimeLimits {
  /** Until a stream begins. */
  readonly firstByteMs: number;
  /** Between two chunks of an answer, the client's own slowness aside. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * Sees that an answer begins, goes on and ends in time. One timer, which looks
 * at what has come meanwhile and sets itself anew: a chunk costs a note of its
 * time and no timer.
 */
export class Watch {
  readonly startedAt: number;
  /** NaN until there is one. */
  firstByteAt = Number.NaN;
  readonly #limits: TimeLimits;
  readonly #stream: boolean;
  readonly #clock: Clock;
  readonly #onLate: (missing: string) => void;
  #lastByteAt = Number.NaN;
  #isPaused = false;
  #timer: NodeJS.Timeout | undefined;

  /** An answer in one piece takes the time that a stream is spread over: it has no first byte to wait for. */
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
    this.#look();
  }

  sawByte(): void {
    this.#lastByteAt = this.#clock.now();
    if (Number.isNaN(this.firstByteAt)) this.firstByteAt = this.#lastByteAt;
  }

  /** It is the client who is waited for. */
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

  readonly #look = (): void => {
    const { idleMs } = this.#limits;
    const now = this.#clock.now();
    const { due, missing } = this.#next();
    if (now >= due) this.#onLate(missing);
    // No later than the shortest limit, which may apply by then.
    else this.#timer = setTimeout(this.#look, Math.max(1, Math.min(due - now, idleMs)));
  };

  #next(): { due: number; missing: string } {
    const { firstByteMs, idleMs, totalMs } = this.#limits;
    const all = { due: this.startedAt + totalMs, missing: `its end within ${totalMs} ms` };
    const next = Number.isNaN(this.firstByteAt)
      ? { due: this.startedAt + firstByteMs, missing: `a first byte within ${firstByteMs} ms` }
      : { due: this.#lastByteAt + idleMs, missing: `anything for ${idleMs} ms` };
    const isWaiting = Number.isNaN(this.firstByteAt) ? this.#stream : !this.#isPaused;
    return isWaiting && next.due < all.due ? next : all;
  }
}
