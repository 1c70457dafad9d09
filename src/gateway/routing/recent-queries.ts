import type { Store } from "../../store/store.ts";

/** A query as it was routed: enough to ask what would become of it now. */
export interface RecentQuery {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly x: Float64Array;
  readonly candidates: readonly string[];
  /** US dollars that each candidate was expected to cost. */
  readonly costs?: readonly number[] | undefined;
  /** Who answered. */
  readonly pair: readonly [string, string];
}

/** The last queries of a router, for what is said of its traffic. */
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

  /** Those of the log, after a restart; or those of it before a time. */
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
