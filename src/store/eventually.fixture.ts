import { expect } from "vitest";

/** Polls quickly until the expectation holds. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { interval: 5 });
}
