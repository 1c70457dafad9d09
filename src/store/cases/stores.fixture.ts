import { onTestFinished } from "vitest";
import type { Receipt, Store } from "../store.ts";

/** Creates an empty database and returns a function that opens it any number of times. */
export type Fresh = () => Promise<() => Promise<Store>>;

/** Opens stores for one test and closes them after it. */
export interface Stores {
  readonly fresh: Fresh;
  one(): Promise<Store>;
  /** Two stores on the same database. */
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

/** The result of appending a vote: the reason for a refusal, otherwise the status. */
export function resultOf(receipt: Receipt | undefined): string | undefined {
  return receipt?.status === "refused" ? receipt.reason : receipt?.status;
}
