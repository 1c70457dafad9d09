import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { InputError } from "../../core/input/input-error.ts";
import { CodeHashes } from "./code.ts";
import { stableJson } from "./hash.ts";
import { Stopped, type Workers } from "./job.ts";
import KINDS from "./kinds.fixture.ts";
import { LocalWorkers, PLACES } from "./local-workers.fixture.ts";
import { Plan } from "./plan.ts";
import {
  type Published,
  PublishedFolder,
  type PublishedResult,
  writePublished,
} from "./published.ts";
import { remainingJobs } from "./remaining.ts";
import { JobFailed, keyOf, type RunOptions, runPlan } from "./run-plan.ts";
import { FolderStore } from "./store.ts";
import { Threads } from "./threads.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-jobs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const ABOUT = { label: "a job", seconds: 1 };

/** sum(count(3), count(4)) */
function sumPlan(second = 4): { plan: Plan; total: string } {
  const plan = new Plan();
  const of = [3, second].map((n) => plan.add("count", { n }, ABOUT));
  return { plan, total: plan.add("sum", { of }, ABOUT) };
}

const run = (plan: Plan, store: FolderStore, workers: Workers, rest: Partial<RunOptions> = {}) =>
  runPlan(plan, { kinds: KINDS, store, workers, ...rest });

describe("a plan", () => {
  it("keeps equal jobs once, in whatever order a spec is written, and finds the needs of a job in its spec", () => {
    const plan = new Plan();
    const a = plan.add("count", { n: 1, m: [{ x: 1, y: 2 }] }, ABOUT);
    const b = plan.add("count", { m: [{ y: 2, x: 1 }], n: 1 }, ABOUT);
    expect(b).toBe(a);
    expect(plan.jobs).toHaveLength(1);
    const sum = plan.add("sum", { of: [{ deep: a }, "no id", a] }, ABOUT);
    expect(plan.find(sum).needs).toEqual([a]);
    expect(plan.only([sum]).jobs).toHaveLength(2);
    expect(() => plan.find("none")).toThrow(/not planned/);
    expect(stableJson([2, { b: undefined, a: null }])).toBe('[2,{"a":null}]');
  });
});

describe("running a plan", () => {
  it("runs each job once, and later only the jobs that a change concerns", async () => {
    const store = new FolderStore(newFolder());
    const { plan, total } = sumPlan();
    const first = new LocalWorkers(store, KINDS);
    const done = await run(plan, store, first);
    expect((await store.get(done!.get(total)!)).value).toEqual({ total: 6 + 10 });
    expect(first.done.map(({ kind }) => kind).sort()).toEqual(["count", "count", "sum"]);
    const second = new LocalWorkers(store, KINDS);
    expect(await run(plan, store, second)).toEqual(done);
    expect(second.done).toEqual([]);
    const third = new LocalWorkers(store, KINDS);
    await run(sumPlan(5).plan, store, third);
    expect(third.done.map(({ spec }) => spec)).toMatchObject([{ n: 5 }, {}]);
  });

  it("keeps results whose inputs are equal although the code that made the inputs changed", async () => {
    const store = new FolderStore(newFolder());
    const folder = newFolder();
    const file = join(folder, "count.ts");
    const own = { ...KINDS, count: { ...KINDS.count, code: () => [pathToFileURL(file)] } };
    const redone = async (code: string) => {
      writeFileSync(file, code);
      const workers = new LocalWorkers(store, own);
      await run(sumPlan().plan, store, workers, { kinds: own });
      return workers.done.map(({ kind }) => kind);
    };
    expect(await redone("export const version = 1;")).toHaveLength(3);
    expect(await redone("export const version = 2;")).toEqual(["count", "count"]);
  });

  it("fails with the label of the job, and keeps the results so far", async () => {
    const store = new FolderStore(newFolder());
    const { plan, total } = sumPlan();
    plan.add("fail", { after: total }, { label: "a bad job", seconds: 1 });
    await expect(run(plan, store, new LocalWorkers(store, KINDS))).rejects.toThrow(JobFailed);
    const again = new LocalWorkers(store, KINDS);
    await expect(run(plan, store, again)).rejects.toThrow("a bad job failed: out of luck");
    expect(again.done).toEqual([]);
  });

  it("stops on a signal, and continues a job where it stopped", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    const id = plan.add("stubborn", {}, ABOUT);
    const stop = new AbortController();
    const stopping = new LocalWorkers(store, KINDS, { onProgress: () => stop.abort() });
    expect(await run(plan, store, stopping, { signal: stop.signal })).toBeUndefined();
    const done = await run(plan, store, new LocalWorkers(store, KINDS));
    expect((await store.get(done!.get(id)!)).value).toBe("half-way");
    expect(readdirSync(join(store.folder, "work"))).toEqual([]);
  });

  it("begins with the longest chain of jobs", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    plan.add("count", { n: 1 }, { label: "", seconds: 5 });
    const short = plan.add("count", { n: 2 }, { label: "", seconds: 1 });
    plan.add("sum", { of: [short] }, { label: "", seconds: 9 });
    const workers = new LocalWorkers(store, KINDS, { size: 1 });
    await run(plan, store, workers);
    expect(workers.done.map(({ spec }) => spec)).toMatchObject([
      { n: 2 },
      { of: [short] },
      { n: 1 },
    ]);
  });
});

describe("published results", () => {
  /** sum(count(3), count(4)) and sum(count(4), count(5)) */
  function twoSums() {
    const plan = new Plan();
    const [three, four, five] = [3, 4, 5].map((n) => plan.add("count", { n }, ABOUT));
    const first = plan.add("sum", { of: [three, four] }, ABOUT);
    const second = plan.add("sum", { of: [four, five] }, ABOUT);
    return { plan, three: three!, four: four!, five: five!, first, second };
  }

  /** Publishes results of a finished plan: the digests of counts and the values of sums. */
  async function publishedOf(plan: Plan, ids: readonly string[]) {
    const store = new FolderStore(newFolder());
    const keys = await run(plan, store, new LocalWorkers(store, KINDS));
    const results = new Map<string, PublishedResult>();
    for (const id of ids) {
      const key = keys!.get(id)!;
      const isCount = plan.find(id).kind === "count";
      results.set(key, isCount ? { digest: (await store.find(key))! } : await store.get(key));
    }
    return { keys: keys!, results, published: { find: (key: string) => results.get(key) } };
  }

  /** Runs a plan in a new store and returns the keys and what was run. */
  async function runWith(plan: Plan, published: Published) {
    const store = new FolderStore(newFolder());
    const workers = new LocalWorkers(store, KINDS);
    const keys = await run(plan, store, workers, { published });
    const done = workers.done.map(({ kind, spec }) => {
      return kind === "count" ? (spec as { n: number }).n : kind;
    });
    return { store, keys, done: done.sort() };
  }

  it("are not computed again", async () => {
    const { plan } = twoSums();
    const all = plan.jobs.map(({ id }) => id);
    const { keys, published } = await publishedOf(plan, all);
    expect(await runWith(plan, published)).toMatchObject({ keys, done: [] });
  });

  it("are computed if a job that must run reads them, and only then", async () => {
    const { plan, three, four, five, first, second } = twoSums();
    const { keys, published } = await publishedOf(plan, [three, four, first]);
    const empty = { kinds: KINDS, store: new FolderStore(newFolder()), published };
    expect((await remainingJobs(plan, empty)).map(({ id }) => id)).toEqual([four, five, second]);
    const found = await runWith(plan, published);
    expect(found).toMatchObject({ keys, done: [4, 5, "sum"] });
    expect(await remainingJobs(plan, { ...empty, store: found.store })).toEqual([]);
    expect(await remainingJobs(plan, { ...empty, published: undefined })).toEqual(plan.jobs);
    expect((await found.store.get(keys.get(second)!)).value).toEqual({ total: 10 + 15 });
  });

  it("are replaced, with all that was made of them, if this machine computes other ones", async () => {
    const { plan, three, four, first, second } = twoSums();
    const { keys, results } = await publishedOf(plan, [three, four]);
    // The machine that published found other vectors for count(4), and the sum of these.
    results.set(keys.get(four)!, { digest: "0".repeat(64) });
    const digests = new Map([
      [three, results.get(keys.get(three)!)!.digest!],
      [four, "0".repeat(64)],
    ]);
    results.set(keyOf(plan.find(first), KINDS, new CodeHashes(), digests), { value: { total: 0 } });
    const asked: string[] = [];
    const found = await runWith(plan, {
      find: (key) => {
        if (results.get(key)?.value) asked.push(key);
        return results.get(key);
      },
    });
    expect(asked).toHaveLength(1);
    expect(found.keys).toEqual(keys);
    expect(found.done).toEqual([3, 4, 5, "sum", "sum"]);
    expect((await found.store.get(keys.get(first)!)).value).toEqual({ total: 6 + 10 });
    expect((await found.store.get(keys.get(second)!)).value).toEqual({ total: 10 + 15 });
  });

  it("without a digest do not stand in for a result that another job reads", async () => {
    const { plan, total } = sumPlan();
    const { keys, results, published } = await publishedOf(plan, [total]);
    for (const { id } of plan.jobs.slice(0, 2)) results.set(keys.get(id)!, { value: {} });
    expect(await runWith(plan, published)).toMatchObject({ keys, done: [3, 4] });
  });

  it("are read from a folder of compressed files, which equal results give again bit by bit", async () => {
    const folder = newFolder();
    const lines = [
      { key: "ab".repeat(32), digest: "cd".repeat(32) },
      { key: "12".repeat(32), value: [1, 2.5] },
    ];
    await writePublished(folder, "run-01", lines);
    const bytes = readFileSync(join(folder, "run-01.jsonl.gz"));
    await writePublished(folder, "run-02", lines.slice(1));
    const found = await PublishedFolder.open(folder);
    expect(found.find("ab".repeat(32))).toEqual({ digest: "cd".repeat(32) });
    expect(found.find("12".repeat(32))).toEqual({ value: [1, 2.5] });
    expect(found.find("34".repeat(32))).toBeUndefined();
    await writePublished(folder, "run-01", lines);
    expect(readFileSync(join(folder, "run-01.jsonl.gz"))).toEqual(bytes);
    writeFileSync(join(folder, "run-03.jsonl.gz"), bytes.subarray(0, 40));
    await expect(PublishedFolder.open(folder)).rejects.toThrow(/run-03.jsonl.gz.*is damaged/);
    await expect(PublishedFolder.open(newFolder())).rejects.toThrow(/has no files \*.jsonl.gz/);
    await expect(PublishedFolder.open(join(folder, "none"))).rejects.toThrow(/ENOENT/);
  });
});

describe("the store", () => {
  it("treats a damaged result as missing", async () => {
    const store = new FolderStore(newFolder());
    const key = "ab".repeat(32);
    const path = (extension: string) => join(store.folder, "ab", `${key}.${extension}`);
    const put = () =>
      store.put(key, { value: { a: 1.5 }, matrix: { columns: 1, data: Float32Array.of(1, 2) } });
    expect(await store.find(key)).toBeUndefined();
    await put();
    const digest = await store.find(key);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await store.get(key)).toEqual({
      value: { a: 1.5 },
      matrix: { columns: 1, data: Float32Array.of(1, 2) },
    });
    writeFileSync(path("f32"), Float32Array.of(1, 3));
    expect(await store.find(key)).toBeUndefined();
    await put();
    expect(await store.find(key)).toBe(digest);
    for (const text of ['{"digest":', `{"digest":"${digest}","value":{"a":2}}`]) {
      writeFileSync(path("json"), text);
      expect(await store.find(key)).toBeUndefined();
    }
  });

  it("refuses a folder that cannot be written", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    await expect(new FolderStore(join(file, "cache")).open()).rejects.toThrow(InputError);
  });
});

describe("threads", () => {
  const threadsOn = (store: FolderStore, threads: number) => {
    const kinds = new URL("./kinds.fixture.ts", import.meta.url);
    const workers = new Threads({ threads, kinds, store: store.folder, places: PLACES });
    onTestFinished(() => workers.close());
    return workers;
  };

  it("give the same results, however many there are", async () => {
    const results = [1, 3].map(async (threads) => {
      const store = new FolderStore(newFolder());
      const { plan, total } = sumPlan();
      const done = await run(plan, store, threadsOn(store, threads));
      return { done, total: await store.get(done!.get(total)!) };
    });
    const [one, three] = await Promise.all(results);
    expect(one).toEqual(three);
    expect(one).toMatchObject({ total: { value: { total: 16 } } });
  });

  it("pass on an InputError with its fields", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    plan.add("fail", { input: true }, ABOUT);
    const failed = await run(plan, store, threadsOn(store, 1)).catch((error: Error) => error.cause);
    expect(failed).toBeInstanceOf(InputError);
    expect(failed).toMatchObject({ file: "data.jsonl", line: 3, hint: "fill it" });
  });

  it("stop by themselves and accept nothing more", async () => {
    const workers = threadsOn(new FolderStore(newFolder()), 2);
    const task = { key: "cd".repeat(32), kind: "stubborn", spec: {}, inputs: {} };
    const begun = workers.run(task, () => workers.stop());
    await expect(begun).rejects.toThrow(Stopped);
    await expect(workers.run(task)).rejects.toThrow(Stopped);
  });
});
