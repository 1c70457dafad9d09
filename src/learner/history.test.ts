import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configured, MODELS, T0 } from "../store/events.fixture.ts";
import type { Control, LogEvent, Logged } from "../store/events.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { systemTimers, type Timers } from "../store/timers.ts";
import { effectiveVotes } from "./effective.fixture.ts";
import { findPolicy, voted, withModels } from "./events.fixture.ts";
import { Fold } from "./fold.ts";
import { History } from "./history.ts";
import { restartsLearning } from "./vote-schedule.ts";

const newFile = newFiles();
const open = (file: string) => new SqliteStore(file, Date.now);

/** One step of a test. */
type Step =
  | { readonly do: "vote"; readonly times: number }
  | { readonly do: "control"; readonly control: (position: number) => Omit<Control, "position"> }
  | { readonly do: "forget"; readonly voter: string }
  | { readonly do: "learn" | "save" | "kill" };

/** A number from 0 to 1. The doubles of fast-check are mostly tiny. */
const share = fc.nat(100).map((percent) => percent / 100);
const at = { router: "auto", at: T0 };
const POOLS = [MODELS, [...MODELS, "eel"], ["cat", "dog", "eel"], ["ant", "bee", "cat"]];
const control = fc.oneof(
  fc.constant(() => ({ ...at, kind: "frozen" as const })),
  fc.boolean().map((learn) => () => ({ ...at, kind: "thawed" as const, learn })),
  share.map((part) => (head: number) => ({
    ...at,
    kind: "rolled_back" as const,
    to: Math.floor(part * head),
  })),
  fc.tuple(fc.nat(5), fc.constantFrom(0, 0.3, 1)).map(([v, weight]) => () => ({
    ...at,
    kind: "voter_weighed" as const,
    voter: `v${v}`,
    weight,
  })),
  fc.constantFrom(...POOLS).map((models) => () => configured({ pool: withModels(models) })),
  fc.constantFrom(1, 2).map((seed) => () => configured({ seed })),
  fc.constant(() => configured({ policy: "matrix-factorization", options: {} })),
  fc.constant(() => configured({ encoder: "another" })),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.integer({ min: 1, max: 6 }).map((times) => ({ do: "vote", times }) as const),
  },
  { weight: 3, arbitrary: control.map((control) => ({ do: "control", control }) as Step) },
  {
    weight: 1,
    arbitrary: fc.nat(5).map((v) => ({ do: "forget", voter: `v${v}` }) as const),
  },
  { weight: 4, arbitrary: fc.constant({ do: "learn" } as const) },
  { weight: 3, arbitrary: fc.constant({ do: "save" } as const) },
  { weight: 2, arbitrary: fc.constant({ do: "kill" } as const) },
);

describe("History", () => {
  it("never shows a version without votes that it has in the log", async () => {
    const store = open(newFile());
    await store.append([configured()]);
    let time = 0;
    let published = new Fold(findPolicy);
    const shown: [number, string][] = [];
    const timers: Timers = {
      ...systemTimers,
      now: () => (time += 10),
      yield: async () => void shown.push([published.position, published.hash()]),
    };
    const history = new History(store, "auto", { findPolicy, snapshots: true, timers });
    await history.open();
    await history.advance();
    published = history.fold;
    shown.length = 0;
    const prior = published.hash();
    await store.append([voted(1), voted(2), { ...at, kind: "rolled_back", to: 1 }, voted(3)]);
    await history.advance();
    expect(history.fold.position).toBe(5);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.every(([version, hash]) => version === 1 && hash === prior)).toBe(true);
    store.close();
  });

  it("gives the same posterior as one uninterrupted fold, bit for bit, however it is interrupted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const file = newFile();
        let store: Store = open(file);
        const history = () => new History(store, "auto", { findPolicy, snapshots: true });
        let learner = history();
        let n = 0;
        let token = (await store.acquireLease("auto", "test", 1e9))!;
        await store.append([voted(n++), configured()]);
        for (const step of steps) {
          if (step.do === "vote") {
            await store.append(Array.from({ length: step.times }, () => voted(n++)));
          } else if (step.do === "control") {
            await store.append([step.control(await store.head("auto")) as Control]);
          } else if (step.do === "forget") {
            await store.forget("auto", step.voter, T0);
          } else if (step.do === "learn") {
            await learner.advance();
          } else if (step.do === "save") {
            const { fold } = learner;
            const { position } = fold;
            const snapshot = { position, at: T0 + n, hash: fold.hash(), state: fold.toBytes() };
            await store.saveSnapshot({ router: "auto", ...snapshot }, token);
          } else {
            await store.close();
            store = open(file);
            learner = history();
            await learner.open();
            token = (await store.acquireLease("auto", "test", 1e9, true))!;
          }
        }
        while (await learner.advance());
        const replayed = new History(store, "auto", { findPolicy, snapshots: false });
        await replayed.replay();
        const plain = reference(await store.logEvents("auto", 0, 1e6));
        expect(replayed.fold.hash()).toBe(plain.hash());
        expect(learner.fold.hash()).toBe(plain.hash());
        expect(learner.fold.counts).toEqual(plain.counts);
        expect(learner.fold.position).toBe(await store.head("auto"));
        await store.close();
      }),
      { seed: 1, numRuns: 25 },
    );
  }, 60_000);
});

/** Folds the votes that count in order, with the configurations between them. */
function reference(events: readonly Logged<LogEvent>[]): Fold {
  const configurations = events.filter((event) => event.kind === "configured");
  const base = configurations.findLastIndex(
    (configuration, i) => i === 0 || restartsLearning(configurations[i - 1]!, configuration),
  );
  const fold = new Fold(findPolicy);
  fold.begin(configurations[base]!);
  const later = configurations.slice(base + 1);
  for (const { vote, position, weight } of effectiveVotes(events)) {
    while (later[0] && later[0].position < position) fold.configure(later.shift()!);
    fold.learn(vote, weight);
  }
  for (const configuration of later) fold.configure(configuration);
  return fold;
}
