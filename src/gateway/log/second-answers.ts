/** A second answer in the client's dialect, as JSON text, or the reason why there is none. */
export type SecondAnswer = { readonly body: string } | { readonly missing: "failed" | "too_large" };

/** A second answer that is being made. */
export interface RunningSecond {
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Stops the model and forgets the answer. */
  cancel(): void;
  /** Gives the answer to the clients that wait for it, and keeps it for others. */
  settle(answer: SecondAnswer): void;
  /** Must be called last, after the answer was logged. */
  end(): void;
}

/**
 * Second answers of duels whose clients got the first one at once. They are kept in the memory of
 * this node, because answers are not written to disk unless the operator allows it: no longer than
 * the decision's vote token is valid, and within limits of bytes and number. The oldest ones make
 * room for new ones.
 */
export class SecondAnswers {
  /** Answers by decision, the oldest first. */
  readonly #kept = new Map<string, Entry>();
  /** The decisions whose answers were evicted most recently. */
  readonly #evicted = new Set<string>();
  readonly #running = new Map<RunningSecond, Promise<void>>();
  readonly #now: () => number;
  readonly #limits: SecondLimits;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;

  /** `now` in milliseconds since 1970. */
  constructor(now: () => number, limits: Partial<SecondLimits> = {}) {
    this.#now = now;
    this.#limits = { ...LIMITS, ...limits };
    this.#timer = setInterval(() => this.#expire(), SWEEP_MS).unref();
  }

  /** Whether one more answer may be made. */
  get hasRoom(): boolean {
    return this.#running.size < this.#limits.running;
  }

  /** Bytes and number of the answers that are kept. */
  get size(): { readonly bytes: number; readonly answers: number } {
    return { bytes: this.#bytes, answers: this.#kept.size };
  }

  /** Begins a second answer, which `owner` may read until a time. */
  begin(decision: string, owner: string | undefined, until: number): RunningSecond {
    this.#expire();
    const stop = new AbortController();
    const answered = Promise.withResolvers<SecondAnswer>();
    const ended = Promise.withResolvers<void>();
    const entry: Entry = { owner, until, answer: answered.promise, bytes: 0 };
    this.#kept.set(decision, entry);
    const running: RunningSecond = {
      signal: stop.signal,
      cancel: () => {
        this.#drop(decision, entry);
        answered.resolve({ missing: "failed" });
        stop.abort();
      },
      settle: (given) => {
        const bytes = "body" in given ? Buffer.byteLength(given.body) : 0;
        const isTooLarge = bytes > this.#limits.answerBytes;
        answered.resolve(isTooLarge ? { missing: "too_large" } : given);
        if (isTooLarge || this.#kept.get(decision) !== entry) return;
        entry.bytes = bytes;
        this.#bytes += bytes;
        this.#makeRoom();
      },
      end: () => {
        answered.resolve({ missing: "failed" });
        this.#running.delete(running);
        ended.resolve();
      },
    };
    this.#running.set(running, ended.promise);
    return running;
  }

  /** Keeps a second answer that is complete. */
  keep(decision: string, owner: string | undefined, until: number, body: string): void {
    const running = this.begin(decision, owner, until);
    running.settle({ body });
    running.end();
  }

  /** The second answer of a decision, which may still be made. Undefined if it is not here. */
  find(decision: string): KeptSecond | undefined {
    const entry = this.#kept.get(decision);
    return entry && entry.until >= this.#now() ? entry : undefined;
  }

  /** Whether the answer was evicted to make room for others. */
  isEvicted(decision: string): boolean {
    return this.#evicted.has(decision);
  }

  /** Stops all models that are still answering, and waits until their answers are logged. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const ends = [...this.#running.values()];
    for (const running of this.#running.keys()) running.cancel();
    await Promise.all(ends);
  }

  #makeRoom(): void {
    const { bytes, answers } = this.#limits;
    for (const [decision, entry] of this.#kept) {
      if (this.#bytes <= bytes && this.#kept.size <= answers) return;
      this.#drop(decision, entry);
      this.#evicted.add(decision);
      if (this.#evicted.size > answers) this.#evicted.delete(this.#evicted.values().next().value!);
    }
  }

  #expire(): void {
    const now = this.#now();
    for (const [decision, entry] of this.#kept) {
      if (entry.until < now) this.#drop(decision, entry);
      // The lifetime is the same for all unless the configuration changes.
      else break;
    }
  }

  #drop(decision: string, entry: Entry): void {
    if (this.#kept.get(decision) !== entry) return;
    this.#kept.delete(decision);
    this.#bytes -= entry.bytes;
  }
}

/** A second answer that can be read. */
export interface KeptSecond {
  /** Id of the API key that may read it; undefined without a key. */
  readonly owner: string | undefined;
  readonly answer: Promise<SecondAnswer>;
}

interface Entry extends KeptSecond {
  /** Time in milliseconds since 1970 up to which the answer is kept. */
  readonly until: number;
  bytes: number;
}

interface SecondLimits {
  /** Bytes of all answers, and of one. */
  readonly bytes: number;
  readonly answerBytes: number;
  /** Number of answers, and of those that are being made. */
  readonly answers: number;
  readonly running: number;
}

const LIMITS: SecondLimits = {
  bytes: 64 * 2 ** 20,
  answerBytes: 4 * 2 ** 20,
  answers: 10_000,
  running: 256,
};
const SWEEP_MS = 60_000;

/** The limits of one of several processes, which share the memory of their machine. */
export function secondLimits(processes: number): Partial<SecondLimits> {
  const part = (limit: number) => Math.ceil(limit / processes);
  const { bytes, answers, running } = LIMITS;
  return { bytes: part(bytes), answers: part(answers), running: part(running) };
}
