import { expect } from "vitest";

/** Polls until the expectation holds. The long timeout allows for a busy machine. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: 60_000, interval: 5 });
}
