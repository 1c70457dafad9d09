import type { Decision } from "../store/decision.ts";
import type { Store } from "../store/store.ts";

/** Yields all events after a position, reading them from the store page by page. */
export async function* inPages<E extends { readonly position: number }>(
  readPage: (after: number, limit: number) => Promise<readonly E[]>,
  after = 0,
): AsyncGenerator<E> {
  for (let last = after; ; ) {
    const events = await readPage(last, PAGE);
    if (events.length === 0) return;
    yield* events;
    last = events.at(-1)!.position;
  }
}

/** Yields all decisions of a router since a time, oldest first, reading them page by page. */
export async function* decisionsInPages(
  store: Pick<Store, "routed">,
  router: string,
  since = 0,
): AsyncGenerator<Decision> {
  for (let after: Decision | undefined; ; ) {
    const page = await store.routed({ router, since, after, limit: PAGE });
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)!;
  }
}

const PAGE = 500;
