import { expect, it } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import { parsePolicies } from "../policies/policy-spec.ts";
import type { Run } from "./run.ts";
import { SETTINGS, type Settings } from "./settings.ts";
import { type Runs, runSweep, type Sweep, type Task } from "./sweep.ts";

const write = temporaryFolder();

/** 40 queries, each with scores of its own. */
async function sweep(policies: string, settings: Partial<Settings> = {}): Promise<Sweep> {
  const random = Random.seeded(7);
  const vector = (n: number) => Float64Array.from({ length: n }, () => random.uniform());
  const queries = Array.from({ length: 40 }, (_, i) => ({
    id: String(i),
    text: "",
    category: i % 4,
    scores: vector(3),
  }));
  const dataset: Dataset = { models: ["a", "b", "c"], categories: ["w", "x", "y", "z"], queries };
  return {
    dataset,
    embeddings: queries.map(() => vector(5)),
    policies: await parsePolicies(policies, "/"),
    settings: { ...SETTINGS, told: { kind: "offline" }, rounds: 30, runs: 3, ...settings },
  };
}

/** Without the times, which no two runs share. */
function numbers(runs: Runs) {
  return runs.map((row) =>
    row.map((run) => run && ([run.curve, run.costPerQuery, run.agreement] as const)),
  );
}

it("gives the same runs whatever the number of threads, and whoever else is compared", async () => {
  // What the router remembers means nothing to `random`: two names of the same runs.
  const plan = await sweep("random,random:pending=3,joust");
  const order: Task[] = [];
  const one = await runSweep(plan, { threads: 1, onRun: (task) => order.push(task) });
  const two = await runSweep(plan, { threads: 2 });
  expect(numbers(two)).toEqual(numbers(one));
  expect(numbers(one)[0]).toEqual(numbers(one)[1]);
  for (const row of one) expect(new Set(row.map((run) => String(run!.curve))).size).toBe(3);
  // Run by run, so that what is finished early can be compared.
  expect(order.map(({ run }) => run)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);

  const done: Task[] = [];
  const again = await runSweep(plan, {
    threads: 1,
    known: ({ policy, run }) => (run < 2 ? one[policy]![run] : undefined),
    onRun: (task) => done.push(task),
  });
  expect(numbers(again)).toEqual(numbers(one));
  expect(done.map(({ run }) => run)).toEqual([2, 2, 2]);
});

it("starts no thread where everything is known", async () => {
  const plan = await sweep("random");
  const run = {} as Run;
  const all = await runSweep(plan, { threads: 2, known: () => run });
  expect(all).toEqual([[run, run, run]]);
});

it("keeps what is finished when it is stopped", async () => {
  const stop = new AbortController();
  const finished: Run[] = [];
  const runs = await runSweep(await sweep("random,joust", { runs: 500 }), {
    threads: 2,
    signal: stop.signal,
    onRun: (_, run) => {
      finished.push(run);
      if (finished.length === 3) stop.abort();
    },
  });
  const kept = runs.flat().filter((run) => run !== undefined);
  expect(kept.length).toBe(finished.length);
  expect(kept.length).toBeLessThan(10);
});

it("says which policy has failed, and why", async () => {
  const path = write(
    "bad.mjs",
    `export default { name: "bad", summary: "", defaults: {}, create: () => ({
      choose() { throw new Error("out of ideas"); }, learn() {}, snapshot() {}, restore() {} }) };`,
  );
  const failed = await runSweep(await sweep(`random,${path}`), { threads: 2 }).catch((e) => e);
  expect(failed.message).toMatch(/^bad\.mjs, run \d failed$/);
  expect(failed.cause.message).toBe("out of ideas");
  const leaves = write(
    "leaves.mjs",
    `export default { name: "leaves", summary: "", defaults: {}, create: () => ({
      choose() { process.exit(3); }, learn() {}, snapshot() {}, restore() {} }) };`,
  );
  const gone = await runSweep(await sweep(leaves), { threads: 1 }).catch((e) => e);
  expect(gone.cause.message).toBe("its worker ended with code 3");
});
