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

const PAGE = 500;
