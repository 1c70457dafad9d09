/** Dollars that are set aside for one call. */
export interface Hold {
  readonly amount: number;
  /** Replaces the amount by what the call has cost. Must be called once. */
  settle(cost: number): void;
}

/**
 * A limit on spending. A call reserves the most that it can cost before it is sent, so that calls
 * at the same time cannot spend the same dollars. Unlike the budget of an API key, the limit is
 * never exceeded: the rest that no call fits into stays unspent.
 */
export class DollarLimit {
  readonly limit: number;
  #spent: number;
  #reserved = 0;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(limit: number, spent = 0) {
    this.limit = limit;
    this.#spent = spent;
  }

  get spent(): number {
    return this.#spent;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Reserves `most` dollars. Waits while running calls may free enough; undefined if that is impossible. */
  async reserve(most: number): Promise<Hold | undefined> {
    while (!(this.#spent + this.#reserved + most <= this.limit)) {
      if (this.#running === 0 || this.#spent + most > this.limit) return undefined;
      await new Promise<void>((done) => this.#waiting.push(done));
    }
    this.#reserved += most;
    this.#running++;
    return {
      amount: most,
      settle: (cost) => {
        this.#running--;
        this.#reserved = this.#running === 0 ? 0 : this.#reserved - most;
        this.#spent += cost;
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const wake of waiting) wake();
      },
    };
  }
}
