/**
 * Keeps duels to a share of the requests and of what is spent, each a moving
 * mean over about the last thousand requests, so that neither an old burst nor
 * an old lull decides for long.
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

  /** Whether one more duel keeps to both, the request at hand included. */
  get allows(): boolean {
    if (this.#duels + 1 > this.#share * (this.#requests + 1) + HEAD_START * this.#share) {
      return false;
    }
    return this.#spent === 0 || this.#spentOnDuels <= this.#spend * this.#spent;
  }

  routed(isDuel: boolean): void {
    this.#requests = this.#requests * KEEP + 1;
    this.#duels = this.#duels * KEEP + Number(isDuel);
  }

  /** What a whole request has cost; of a duel it counts what the second answer has cost. */
  spent(cost: number, second: number): void {
    this.#spent = this.#spent * KEEP + cost;
    this.#spentOnDuels = this.#spentOnDuels * KEEP + second;
  }
}

const KEEP = 0.999;
/** A first duel need not wait for the requests that it is a small share of. */
const HEAD_START = 5;
