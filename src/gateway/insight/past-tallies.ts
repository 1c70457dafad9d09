import type { Store, TallyQuery } from "../../store/store.ts";
import type { Tally } from "../../store/tally.ts";

/**
 * Counts of a window, of which only the last steps are read again: those that are over
 * do not change any more. A year in steps of days is a million rows of five minutes,
 * and whoever votes meanwhile would wait for them.
 */
export class PastTallies {
  readonly #store: Pick<Store, "tallies">;
  readonly #known = new Map<string, Known>();

  constructor(store: Pick<Store, "tallies">) {
    this.#store = store;
  }

  /** As the store gives them; `from` is a multiple of `step`. */
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

  /** What was logged late may lie in steps that were over. */
  forget(): void {
    this.#known.clear();
  }
}

interface Known {
  readonly from: number;
  /** Not included: where reading goes on. */
  readonly until: number;
  readonly tallies: readonly Tally[];
}

/** Other nodes may be late with what they log, by as much as their clocks and their stores. */
const SETTLED_MS = 3_600_000;
