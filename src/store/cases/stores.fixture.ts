import { onTestFinished } from "vitest";
import type { Receipt, Store } from "../store.ts";

/** A new, empty database, which can be opened any number of times. */
export type Fresh = () => Promise<() => Promise<Store>>;

/** Stores for one test, closed when it is over. */
export interface Stores {
  readonly fresh: Fresh;
  one(): Promise<Store>;
  /** Two on the same database. */
  both(): Promise<[Store, Store]>;
}

export function storesOf(fresh: Fresh): Stores {
  const opened = async (open: () => Promise<Store>) => {
    const store = await open();
    onTestFinished(() => store.close());
    return store;
  };
  return {
    fresh,
    one: async () => opened(await fresh()),
    both: async () => {
      const open = await fresh();
      return [await opened(open), await opened(open)];
    },
  };
}

/** What became of a vote, in a word. */
export function refusedFor(receipt: Receipt | undefined): string | undefined {
  return receipt?.status === "refused" ? receipt.reason : receipt?.status;
}
