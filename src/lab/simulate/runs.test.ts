import { expect, it } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { parsePolicies } from "../../core/policy-spec/policy-spec.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import { Journal } from "./journal.ts";
import { type Comparison, type Runs, type RunsOptions, runPolicies } from "./runs.ts";
import { SETTINGS, type Settings } from "./settings.ts";

const write = temporaryFolder();

/** A comparison on 40 queries, each with scores of its own. */
async function comparison(policies: string, settings: Partial<Settings> = {}): Promise<Comparison> {
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
    content: "these 40 queries",
    policies: await parsePolicies(policies, "/"),
    settings: { ...SETTINGS, told: { kind: "offline" }, rounds: 30, runs: 3, ...settings },
  };
}

/** Counts the runs that it receives. */
class CountingJournal {
  readonly journal = Journal.inMemory();
  count = 0;

  constructor(onRun = () => {}) {
    const put = this.journal.put.bind(this.journal);
    this.journal.put = async (key, result) => {
      await put(key, result);
      this.count++;
      onRun();
    };
  }
}

const run = (compared: Comparison, options: Partial<RunsOptions> = {}) =>
  runPolicies(compared, { threads: 1, journal: Journal.inMemory(), ...options });

/** The runs without their times, which differ every time. */
function numbers(runs: Runs) {
  return runs.map((row) =>
    row.map((run) => run && ([run.curve, run.costPerQuery, run.agreement] as const)),
  );
}

it("gives the same runs whatever the threads and the other policies", async () => {
  // The option of the router means nothing to `random`, so both have the same numbers.
  const compared = await comparison("random,random:pending=3,joust");
  const one = await run(compared);
  expect(numbers(await run(compared, { threads: 2 }))).toEqual(numbers(one));
  expect(numbers(one)[0]).toEqual(numbers(one)[1]);
  for (const row of one) expect(new Set(row.map((run) => String(run!.curve))).size).toBe(3);
});

it("continues run by run, and repeats a run only if data, settings or policy differ", async () => {
  const stop = new AbortController();
  const counting = new CountingJournal(() => counting.count === 4 && stop.abort());
  const { journal } = counting;
  const compared = await comparison("random,greedy");
  const begun = await run(compared, { journal, signal: stop.signal });
  expect(begun.map((row) => row.map(Boolean))).toEqual([
    [true, true, false],
    [true, true, false],
  ]);
  const all = await run(compared, { journal });
  expect(counting.count).toBe(6);
  expect(numbers(all)).toEqual(numbers(await run(compared)));

  const repeated = async (other: Partial<Comparison>) => {
    const before = counting.count;
    await run({ ...compared, ...other }, { journal });
    return counting.count - before;
  };
  expect(await repeated({ settings: { ...compared.settings, runs: 4 } })).toBe(2);
  expect(await repeated({ settings: { ...compared.settings, voteScale: 9 } })).toBe(6);
  expect(await repeated({ content: "other queries" })).toBe(6);
  const [random, greedy] = compared.policies;
  expect(await repeated({ policies: [{ ...random!, name: "another name" }, greedy!] })).toBe(0);
  const options = { ...greedy!.options, duels: 7 };
  expect(await repeated({ policies: [random!, { ...greedy!, options }] })).toBe(3);
  expect(await repeated({ policies: [{ ...random!, router: { pending: 0 } }, greedy!] })).toBe(3);
});

it("repeats the runs of a user's policy when its code changes, not when a comment does", async () => {
  const policy = (choice: string) =>
    `export default { name: "own", summary: "", defaults: {}, create: () => ({
      choose() { return { pair: ${choice} }; }, learn() {}, snapshot() {}, restore() {} }) };`;
  const counting = new CountingJournal();
  const countWith = async (text: string) => {
    const before = counting.count;
    // Node imports a module once, so a changed one needs another path.
    const compared = await comparison(`random,${write(`own-${Math.random()}.mjs`, text)}`);
    await run(compared, { journal: counting.journal });
    return counting.count - before;
  };
  expect(await countWith(policy("[0, 1]"))).toBe(6);
  expect(await countWith(`// A comment.\n${policy("[0, 1]")}`)).toBe(0);
  expect(await countWith(policy("[0, 2]"))).toBe(3);
});

it("keeps the finished runs when it is stopped", async () => {
  const stop = new AbortController();
  const counting = new CountingJournal(() => counting.count === 3 && stop.abort());
  const { journal } = counting;
  const compared = await comparison("random,joust", { runs: 500 });
  const runs = await run(compared, { threads: 2, journal, signal: stop.signal });
  const kept = runs.flat().filter((run) => run !== undefined);
  expect(kept.length).toBe(counting.count);
  expect(kept.length).toBeLessThan(10);
});

it("names the policy that has failed and the reason", async () => {
  const broken = (name: string, choose: string) =>
    write(
      `${name}.mjs`,
      `export default { name: "${name}", summary: "", defaults: {}, create: () => ({
        choose() { ${choose} }, learn() {}, snapshot() {}, restore() {} }) };`,
    );
  const throws = broken("throws", 'throw new Error("out of ideas");');
  const failed = await run(await comparison(`random,${throws}`), { threads: 2 }).catch((e) => e);
  expect(failed.message).toMatch(/^throws\.mjs, run \d failed: out of ideas$/);
  expect(failed.cause.message).toBe("out of ideas");
  const exits = broken("exits", "process.exit(3);");
  const gone = await run(await comparison(exits)).catch((e) => e);
  expect(gone.cause.cause.message).toBe("exit code 3");
});
