/**
 * Limits duels to a share of the requests and of their cost. Duels that clients require do not count. Both shares are
 * moving means over about the last thousand requests.
 */
export class DuelCap {
  readonly #share: number;
  readonly #spend: number;
  #requests = 0;
  #duels = 0;
  #spent = 0;
  #spentOnDuels = 0;

  constructor(share: number, spend: number) {
    this.#share = share;
    this.#spend = spend;
  }

  /** Whether one more duel stays within both limits. */
  get allows(): boolean {
    if (this.#duels + 1 > this.#share * (this.#requests + 1) + HEAD_START * this.#share) {
      return false;
    }
    return this.#spent === 0 || this.#spentOnDuels <= this.#spend * this.#spent;
  }

  /** Counts a request. `isDuel` is false for a duel that the client requires. */
  routed(isDuel: boolean): void {
    this.#requests = this.#requests * KEEP_REQUEST + 1;
    this.#duels = this.#duels * KEEP_REQUEST + Number(isDuel);
  }

  /** Counts the cost of a request; `second` is the part of the second answer of a duel that counts. */
  spent(cost: number, second: number): void {
    this.#spent = this.#spent * KEEP_REQUEST + cost;
    this.#spentOnDuels = this.#spentOnDuels * KEEP_REQUEST + second;
  }
}

const KEEP_REQUEST = 0.999;
/** Requests that are counted in advance, so that the first duel does not have to wait for them. */
const HEAD_START = 5;
