import { expect, it } from "vitest";
import type { Voted } from "../../store/events.ts";
import { type SignalledRequest, Signals } from "./signals.ts";

/** Signals with a clock that the test sets. `ask` answers a conversation of one message and returns the number of votes so far. */
function start() {
  let now = 0;
  const votes: Voted[] = [];
  const parts = {
    clock: { date: () => now },
    log: {
      votes: async (cast: readonly Voted[]) => {
        votes.push(...cast);
        return cast.map(() => ({ status: "logged", isLearned: true }));
      },
    },
    metrics: { votes: { inc: () => {} } },
    feed: { publish: () => {} },
    logger: { debug: () => {}, warn: () => {} },
  };
  const signals = new Signals(parts as unknown as ConstructorParameters<typeof Signals>[0]);
  const config = { signals: { regenerated: true, edited: true } };
  const ask = (hash: string, router = "auto", owner = "key", before: readonly string[] = []) => {
    const x = Float64Array.of(1, 0);
    const decision = { id: `${votes.length}`, router, owner, mode: "apply", x, pair: ["a", "a"] };
    const conversation = {
      history: {
        prefixes: [...before, hash].map((own) => ({
          hash: own,
          share: 1,
          answerShare: 0,
          isHead: false,
        })),
      },
      needs: {},
      prompt: hash,
    };
    const request = { router: { name: router, config }, conversation, decision, members: {} };
    const candidates = ["a"];
    signals.consider(
      { ...request, decision: { ...decision, candidates } } as unknown as SignalledRequest,
      [{ slot: 0, model: { name: "a" }, fallbacks: [], end: {} }] as never,
    );
    return votes.length;
  };
  return {
    ask,
    later: (minutes: number) => {
      now += minutes * 60_000;
    },
  };
}

it("an answer is remembered for half an hour", () => {
  const { ask, later } = start();
  ask("one");
  later(29);
  expect(ask("one")).toBe(1);
  later(31);
  expect(ask("one")).toBe(1);
});

it("an edited message is recognised for half an hour", () => {
  const { ask, later } = start();
  ask("first form", "auto", "key", ["question and answer"]);
  later(29);
  expect(ask("second form", "auto", "key", ["question and answer"])).toBe(1);
  later(31);
  expect(ask("third form", "auto", "key", ["question and answer"])).toBe(1);
});

it("at most 5,000 answers are remembered, the newest", () => {
  const { ask } = start();
  for (let i = 0; i <= 5000; i++) ask(`conversation ${i}`);
  expect(ask("conversation 5000")).toBe(1);
  expect(ask("conversation 0")).toBe(1);
});

it("conversations of different keys and routers stay apart", () => {
  const { ask } = start();
  ask("one");
  expect(ask("one", "auto", "another key")).toBe(0);
  expect(ask("one", "code")).toBe(0);
  expect(ask("one")).toBe(1);
});
