import { setImmediate as nextIteration } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { expect, test } from "vitest";
import { systemClock } from "../../clock/clock.ts";
import { Exchange } from "./exchange.ts";
import type { Pass } from "./upstream.ts";

/** As much as is read at once, and less than what a slow reader may leave unread. */
const PORTION = Buffer.alloc(64 * 1024, "x");

test("an answer that arrives fast is read in portions", async () => {
  const { answer, arrives, isPaused } = await begin();
  arrives(PORTION);
  await answer.next();
  expect(isPaused()).toBe(true);
  await nextIteration();
  expect(isPaused()).toBe(false);
});

test("only some of many fast answers continue in the same iteration of the event loop", async () => {
  const all = await Promise.all(Array.from({ length: 40 }, begin));
  for (const { arrives } of all) arrives(PORTION);
  await Promise.all(all.map(({ answer }) => answer.next()));
  const running = async () => {
    await nextIteration();
    return all.filter(({ isPaused }) => !isPaused()).length;
  };
  expect([await running(), await running(), await running()]).toEqual([16, 32, 40]);
});

test("an answer whose reader is slow stays paused", async () => {
  const { answer, arrives, isPaused } = await begin();
  arrives(PORTION);
  await nextIteration();
  expect(isPaused()).toBe(true);
  await answer.next();
  expect(isPaused()).toBe(false);
});

test("an answer that was cancelled is not resumed", async () => {
  const { answer, arrives, isPaused } = await begin();
  arrives(PORTION);
  await answer.next();
  await answer.return!();
  await nextIteration();
  expect(isPaused()).toBe(true);
});

/** An exchange whose answer has begun. All bytes that have arrived were read. */
async function begin() {
  let paused = false;
  const controller = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    abort: () => {},
  } as unknown as Dispatcher.DispatchController;
  const exchange = new Exchange({
    name: "host",
    limits: { connectMs: 1000, idleMs: 1000, totalMs: 1000, answerBytes: 1e9, eventBytes: 1e9 },
    translate: () => ({
      push: (chunk: Buffer, pass: Pass) => pass(chunk),
      end: () => {},
      usage: undefined,
      events: 0,
      isDone: false,
    }),
    stream: true,
    sent: undefined,
    signal: new AbortController().signal,
    clock: systemClock,
  });
  const arrives = (bytes: Buffer) => exchange.onResponseData(controller, bytes);
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  arrives(Buffer.from("x"));
  const { body } = await exchange.answer;
  const answer = body[Symbol.asyncIterator]();
  await answer.next();
  return { answer, arrives, isPaused: () => paused };
}
