/** Runs `work` on items, `count` at a time, until there is no next item. Rejects with the first error after all have ended. */
export async function concurrently<T>(
  count: number,
  next: () => T | undefined,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const run = async () => {
    for (let item = next(); item !== undefined && !failure; item = next()) {
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: count }, run));
  if (failure) throw failure.error;
}
