import { expect } from "vitest";

/** Asks until it is so; how long that takes on a busy machine is not what is tested. */
export function eventually<T>(ask: () => T | Promise<T>) {
  return expect.poll(ask, { timeout: 60_000, interval: 5 });
}
