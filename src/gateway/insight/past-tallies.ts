import type { Store, TallyQuery } from "../../store/store.ts";
import type { Tally } from "../../store/tally.ts";

/**
 * Cache of the counts of a window. Only the last steps are read again, because older ones do not
 * change. A year in steps of days consists of a million rows of five minutes, and votes would
 * have to wait while they are read.
 */
export class PastTallies {
  readonly #store: Pick<Store, "tallies">;
  readonly #known = new Map<string, Known>();

  constructor(store: Pick<Store, "tallies">) {
    this.#store = store;
  }

  /** Reads the counts as the store returns them. `from` is a multiple of `step`. */
  async read(query: TallyQuery): Promise<Tally[]> {
    const { router, from, to, step } = query;
    const key = `${step} ${router}`;
    const known = this.#known.get(key);
    const isUsable = known !== undefined && known.from <= from && known.until <= to;
    const start = isUsable ? Math.max(from, known.until) : from;
    const fresh = await this.#store.tallies({ ...query, from: start });
    const past = isUsable ? known.tallies.filter(({ bucket }) => bucket >= from) : [];
    const tallies = [...past, ...fresh];
    const until = Math.max(start, Math.floor((to - SETTLED_MS) / step) * step);
    this.#known.set(key, { from, until, tallies: tallies.filter(({ bucket }) => bucket < until) });
    return tallies;
  }

  /** Empties the cache, because events that are logged late may belong to old steps. */
  forget(): void {
    this.#known.clear();
  }
}

interface Known {
  readonly from: number;
  /** End of the cached steps, where reading continues. */
  readonly until: number;
  readonly tallies: readonly Tally[];
}

/** Time after which a step is complete. Other nodes may log late. */
const SETTLED_MS = 3_600_000;
