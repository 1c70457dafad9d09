/** What a store gives page by page, one by one: the events after a position. */
export async function* inPages<E extends { readonly position: number }>(
  page: (after: number, limit: number) => Promise<readonly E[]>,
  from = 0,
): AsyncGenerator<E> {
  for (let after = from; ; ) {
    const events = await page(after, PAGE);
    if (events.length === 0) return;
    yield* events;
    after = events.at(-1)!.position;
  }
}

const PAGE = 500;
