import { setImmediate as nextIteration } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../clock/clock.ts";
import type { UpstreamError } from "./error.ts";
import { Exchange, type Limits } from "./exchange.ts";
import type { Pass, Translation } from "./upstream.ts";
import { WholeAnswer } from "./whole-answer.ts";

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
  const all = await Promise.all(Array.from({ length: 40 }, () => begin()));
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

test("an answer that is late because its reader is slow is not the upstream's failure", async () => {
  const slow = await begin({ totalMs: 20 });
  slow.arrives(PORTION);
  expect((await slow.end).error).toMatchObject({ code: "cancelled", fault: "client" });
  const silent = await begin({ totalMs: 20 });
  expect((await silent.end).error).toMatchObject({ code: "timeout", fault: "upstream" });
});

test("a signal that has timed out is the upstream's failure, any other abort the client's", async () => {
  const ended = async (reason?: DOMException) => {
    const caller = new AbortController();
    const { end } = await begin({}, caller.signal);
    caller.abort(reason);
    return (await end).error;
  };
  expect(await ended(new DOMException("late", "TimeoutError"))).toMatchObject({
    ...{ code: "timeout", fault: "upstream", clientStatus: 504 },
    message: "host did not send a complete answer in time",
  });
  expect(await ended()).toMatchObject({ code: "cancelled", fault: "client" });
});

test("an answer that is complete ends soon, although its upstream goes on with comments", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { arrives, end } = await begin({}, undefined, { isDone: true });
  let isOver = false;
  end.then(() => {
    isOver = true;
  });
  for (let i = 0; i < 3; i++) {
    await vi.advanceTimersByTimeAsync(400);
    arrives(Buffer.from(":\n\n"));
  }
  expect(isOver).toBe(true);
});

test.each([
  ["broken", "cut", {}, '{"choices": [{"message": {"content": "Hello'],
  ["too_large", "long", { answerBytes: 20 }, '{"choices": [{"message": {"content": "Hello"}}]}'],
])("an answer that is %s (%s) costs the text that was received", async (code, _, own, text) => {
  const { exchange, controller } = started(own, undefined, {
    translation: new WholeAnswer("host", "chat/completions"),
  });
  exchange.onResponseStart(controller, 200, {});
  exchange.onResponseData(controller, Buffer.from(text));
  exchange.onResponseEnd();
  await expect(exchange.answer).rejects.toMatchObject({
    ...{ code, isAbandoned: true },
    lost: [{ completionTokens: Math.ceil(text.length / 4) }],
  });
});

test("an answer that is complete JSON without a choice costs nothing", async () => {
  const { exchange, controller } = started({}, undefined, {
    translation: new WholeAnswer("host", "chat/completions"),
  });
  exchange.onResponseStart(controller, 200, {});
  exchange.onResponseData(controller, Buffer.from("{}"));
  exchange.onResponseEnd();
  const nothing = { code: "broken", isAbandoned: false, lost: [] };
  await expect(exchange.answer).rejects.toMatchObject(nothing);
});

test.each([400, 500])(
  "a status %d whose JSON is nested deeply is an error at once",
  async (status) => {
    for (const depth of [200, 5000, 30_000]) {
      for (const text of [nested("[", "]", depth), nested('{"error":', "}", depth)]) {
        const { exchange, controller } = started();
        exchange.onResponseStart(controller, status, {});
        exchange.onResponseData(controller, Buffer.from(text).subarray(0, 65_536));
        exchange.onResponseEnd();
        const error = await exchange.answer.then(
          () => expect.fail("no error"),
          (one: UpstreamError) => one,
        );
        expect([error.status, error.message]).toEqual([status, `host answered ${status}`]);
        expect(JSON.parse(error.toJson()).error.message).toBe(`host answered ${status}`);
      }
    }
  },
);

const nested = (open: string, close: string, depth: number) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

/** An exchange whose answer has begun. All bytes that have arrived were read. */
async function begin(
  own: Partial<Limits> = {},
  signal = new AbortController().signal,
  state: { isDone?: boolean } = {},
) {
  const { exchange, controller, isPaused } = started(own, signal, state);
  const arrives = (bytes: Buffer) => exchange.onResponseData(controller, bytes);
  exchange.onResponseStart(controller, 200, {});
  arrives(Buffer.from("x"));
  const { body, end } = await exchange.answer;
  const answer = body[Symbol.asyncIterator]();
  await answer.next();
  return { answer, end, arrives, isPaused };
}

/** An exchange whose request was sent. */
function started(
  own: Partial<Limits> = {},
  signal = new AbortController().signal,
  { isDone = false, translation }: { isDone?: boolean; translation?: Translation } = {},
) {
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
    limits: {
      connectMs: 1e6,
      idleMs: 1e6,
      totalMs: 1e6,
      answerBytes: 1e9,
      eventBytes: 1e9,
      ...own,
    },
    translate: () =>
      translation ?? {
        push: (chunk: Buffer, pass: Pass) => pass(chunk),
        end: () => {},
        usage: undefined,
        events: 0,
        isDone,
      },
    stream: true,
    sent: undefined,
    signal,
    clock: systemClock,
  });
  exchange.onRequestStart(controller);
  return { exchange, controller, isPaused: () => paused };
}
