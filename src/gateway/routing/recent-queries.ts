import type { Decision } from "../../store/decision.ts";
import type { Store } from "../../store/store.ts";

/** The part of a decision that is needed to decide its request again. */
export type RecentQuery = Pick<Decision, "at" | "x" | "candidates" | "costs" | "pair">;

/** The most recent queries of a router. */
export class RecentQueries {
  readonly #size: number;
  readonly #ring: RecentQuery[] = [];
  #next = 0;

  constructor(size = 512) {
    this.#size = size;
  }

  add(query: RecentQuery): void {
    this.#ring[this.#next] = query;
    this.#next = (this.#next + 1) % this.#size;
  }

  get all(): readonly RecentQuery[] {
    return this.#ring;
  }

  /** Reads the most recent queries from the log, or those before a time. */
  async fill(store: Store, router: string, to = Infinity): Promise<void> {
    const pageBefore = (before?: number) => store.decisions({ router, before, limit: this.#size });
    let page = await pageBefore();
    while (page.length > 0 && page.at(-1)!.decision.at >= to) {
      page = await pageBefore(page.at(-1)!.decision.position);
    }
    const newest = page.find(({ decision }) => decision.at < to);
    if (newest && newest !== page[0]) page = await pageBefore(newest.decision.position + 1);
    const oldest = page.at(-1)?.decision.position;
    if (oldest === undefined) return;
    for (const query of await store.routed(router, oldest - 1, page.length)) this.add(query);
  }
}
