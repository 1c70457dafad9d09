import fc from "fast-check";
import { expect, it } from "vitest";
import { Concurrency } from "../access/concurrency.ts";
import { Permits } from "./permits.ts";

/** Processes that share permits, each with its own counts. */
function newMachine(count: number) {
  const giveBack: ((client: string, most: number) => number)[] = [];
  const permits = new Permits(async (process, client, most) =>
    giveBack[Number(process)]!(client, most),
  );
  const processes = Array.from(
    { length: count },
    (_, i) =>
      new Concurrency({
        take: async () => 0,
        acquire: (...args) => permits.acquire(String(i), ...args),
        onRecall: (give) => {
          giveBack[i] = give;
        },
      }),
  );
  return { permits, processes };
}

it("processes never have more requests at a time than the limit, and none is refused below it", async () => {
  const step = fc.record({ process: fc.integer({ min: 0, max: 2 }), isBegin: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(step, { maxLength: 120 }),
      async (limit, steps) => {
        const { processes } = newMachine(3);
        const ends: (() => void)[][] = [[], [], []];
        const running = () => ends.flat().length;
        for (const { process, isBegin } of steps) {
          if (!isBegin) {
            ends[process]!.pop()?.();
            continue;
          }
          const before = running();
          const end = await processes[process]!.begin("k", limit);
          expect(end !== undefined).toBe(before < limit);
          if (end) ends[process]!.push(end);
        }
      },
    ),
    { seed: 1, numRuns: 200 },
  );
});

it("processes keep to a limit that changes, and refuse no request below it", async () => {
  const step = fc.record({
    process: fc.integer({ min: 0, max: 2 }),
    isBegin: fc.boolean(),
    limit: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const { processes } = newMachine(3);
      const ends: (() => void)[][] = [[], [], []];
      let limit = 30;
      for (const { process, isBegin, limit: next } of steps) {
        limit = next ?? limit;
        if (!isBegin) {
          ends[process]!.pop()?.();
          continue;
        }
        const before = ends.flat().length;
        const end = await processes[process]!.begin("k", limit);
        expect(end !== undefined).toBe(before < limit);
        if (end) ends[process]!.push(end);
      }
    }),
    { seed: 1, numRuns: 200 },
  );
});

it("permits that arrive after the limit was lowered are not used", async () => {
  const { processes } = newMachine(4);
  const begun = processes.flatMap((process) => [process.begin("k", 1000), process.begin("k", 2)]);
  for (const end of await Promise.all(begun.filter((_, i) => i % 2 === 0))) end?.();
  for (const end of await Promise.all(begun.filter((_, i) => i % 2 === 1))) end?.();
  const running = await Promise.all(
    Array.from({ length: 20 }, (_, i) => processes[i % 4]!.begin("k", 2)),
  );
  expect(running.filter((end) => end !== undefined)).toHaveLength(2);
});

it("requests at the same time get exactly as many permits as there are", async () => {
  const { processes } = newMachine(2);
  const begun = await Promise.all(
    Array.from({ length: 50 }, (_, i) => processes[i % 2]!.begin("k", 20)),
  );
  expect(begun.filter((end) => end !== undefined)).toHaveLength(20);
});

it("the permits of a process that has ended are free", async () => {
  const { permits, processes } = newMachine(2);
  for (let i = 0; i < 3; i++) expect(await processes[0]!.begin("k", 3)).toBeDefined();
  expect(await processes[1]!.begin("k", 3)).toBeUndefined();
  permits.remove("0");
  expect(await processes[1]!.begin("k", 3)).toBeDefined();
});
