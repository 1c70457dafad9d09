import type { Decision } from "../../store/decision.ts";
import { uniformSample } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";

/** The part of a decision that is needed to decide its request again. */
export type RecentQuery = Pick<Decision, "at" | "encoder" | "x" | "candidates" | "costs" | "pair">;

/** The most recent queries of a router. */
export class RecentQueries {
  #ring: RecentQuery[] = [];
  #next = 0;

  add({ at, encoder, x, candidates, costs, pair }: RecentQuery): void {
    // Only these members are kept: the other ones of a decision of a large pool take more than twice as much.
    this.#ring[this.#next] = { at, encoder, x, candidates, costs, pair };
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
