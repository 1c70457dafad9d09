import type { Decision } from "../../store/decision.ts";
import { uniformSample } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";

/** The part of a decision that is needed to decide its request again. */
export type RecentQuery = Pick<Decision, "at" | "x" | "candidates" | "costs" | "pair">;

/** The most recent queries of a router. */
export class RecentQueries {
  #ring: RecentQuery[] = [];
  #next = 0;

  add({ at, x, candidates, costs, pair }: RecentQuery): void {
    // Only these members are kept: the other ones of a decision of a large pool take more than twice as much.
    this.#ring[this.#next] = { at, x, candidates, costs, pair };
    this.#next = (this.#next + 1) % SIZE;
  }

  get all(): readonly RecentQuery[] {
    return this.#ring;
  }

  /** Reads the most recent queries from the store, or those before a time. */
  async fill(store: Pick<Store, "decisions">, router: string, to?: number): Promise<void> {
    for (const query of await newest(store, router, to)) this.add(query);
  }

  /** Replaces the queries by the most recent ones of the store. */
  async replace(store: Pick<Store, "decisions">, router: string): Promise<void> {
    const queries = await newest(store, router);
    this.#ring = [];
    this.#next = 0;
    for (const query of queries) this.add(query);
  }
}

/** The most recent queries in the store, or those before a time, oldest first. */
async function newest(
  store: Pick<Store, "decisions">,
  router: string,
  to?: number,
): Promise<RecentQuery[]> {
  const before = to === undefined ? undefined : { at: to, id: "" };
  const page = await store.decisions({ router, before, limit: SIZE, withX: true });
  const queries = page.map(({ decision }) => ({ ...decision, x: decision.x! }));
  return uniformSample(queries).toReversed();
}

const SIZE = 512;

/**
 * Limits duels to a share of the requests and of their cost. Both shares are moving means over
 * about the last thousand requests.
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

  routed(isDuel: boolean): void {
    this.#requests = this.#requests * KEEP_REQUEST + 1;
    this.#duels = this.#duels * KEEP_REQUEST + Number(isDuel);
  }

  /** Counts the cost of a request; `second` is the part of a duel's second answer. */
  spent(cost: number, second: number): void {
    this.#spent = this.#spent * KEEP_REQUEST + cost;
    this.#spentOnDuels = this.#spentOnDuels * KEEP_REQUEST + second;
  }
}

const KEEP_REQUEST = 0.999;
/** Requests that are counted in advance, so that the first duel does not have to wait for them. */
const HEAD_START = 5;

/**
 * Estimates the share of prompts that are not in English. An encoder trained on English cannot
 * distinguish their categories. One prompt in `EVERY` is checked, because only the share matters.
 */
export class LanguageWatch {
  #seen = 0;
  #checked = 0;
  #foreign = 0;

  observe(text: string): void {
    if (this.#seen++ % EVERY !== 0) return;
    this.#checked = this.#checked * KEEP_PROMPT + 1;
    this.#foreign = this.#foreign * KEEP_PROMPT + Number(!looksEnglish(text));
  }

  /** Share among the recent prompts; 0 until there are enough. */
  get foreignShare(): number {
    return this.#seen < ENOUGH ? 0 : this.#foreign / this.#checked;
  }
}

const EVERY = 8;
const KEEP_PROMPT = 0.98;
const ENOUGH = 100;

/**
 * Whether a text seems to be English: most letters are Latin and, unless the text is short, at
 * least one word in twelve is a common English word. In English it is one in four; German also
 * has "in" and "an".
 */
export function looksEnglish(text: string): boolean {
  const words = text.slice(0, 600).match(/\p{L}+/gu) ?? [];
  const lettersOf = (list: readonly string[]) => list.reduce((sum, { length }) => sum + length, 0);
  const latin = words.filter((word) => LATIN.test(word));
  if (lettersOf(latin) < lettersOf(words) / 2) return false;
  const known = words.filter((word) => ENGLISH.has(word.toLowerCase())).length;
  return words.length < FEW || known >= LEAST_SHARE * words.length;
}

const LATIN = /^\p{Script=Latin}/u;

const FEW = 8;
const LEAST_SHARE = 1 / 12;
const ENGLISH = new Set(
  "the of and to is in that for it with as on by this are be or from at an what how why which not".split(
    " ",
  ),
);
