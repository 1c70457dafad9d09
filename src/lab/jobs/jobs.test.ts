import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { Alone, PLACES } from "./alone.fixture.ts";
import { codeOf } from "./code.ts";
import { type Crew, Stopped, stableJson } from "./job.ts";
import KINDS from "./kinds.fixture.ts";
import { Plan } from "./plan.ts";
import { JobFailed, type RunOptions, runPlan } from "./run-plan.ts";
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
  const of = [3, second].map((n) => plan.add({ kind: "count", spec: { n }, needs: [] }, ABOUT));
  return { plan, total: plan.add({ kind: "sum", spec: { of }, needs: of }, ABOUT) };
}

const run = (plan: Plan, store: FolderStore, crew: Crew, rest: Partial<RunOptions> = {}) =>
  runPlan(plan, { kinds: KINDS, store, crew, ...rest });

describe("a plan", () => {
  it("has the same job once, however its spec is written, and jobs after those they need", () => {
    const plan = new Plan();
    const a = plan.add({ kind: "count", spec: { n: 1, m: [{ x: 1, y: 2 }] }, needs: [] }, ABOUT);
    const b = plan.add({ needs: [], spec: { m: [{ y: 2, x: 1 }], n: 1 }, kind: "count" }, ABOUT);
    expect(b).toBe(a);
    expect(plan.jobs).toHaveLength(1);
    expect(() => plan.add({ kind: "sum", spec: {}, needs: ["x"] }, ABOUT)).toThrow(
      errorText(/not planned/),
    );
    expect(stableJson([2, { b: undefined, a: null }])).toBe('[2,{"a":null}]');
  });
});

describe("running a plan", () => {
  it("does each job once and never again, but those that a change concerns", async () => {
    const store = new FolderStore(newFolder());
    const { plan, total } = sumPlan();
    const first = new Alone(store, KINDS);
    const done = await run(plan, store, first);
    expect(done && (await store.get(done.get(total)!)).value).toEqual({ total: 6 + 10 });
    expect(first.done.map(({ kind }) => kind).sort()).toEqual(["count", "count", "sum"]);
    const second = new Alone(store, KINDS);
    expect(await run(plan, store, second)).toEqual(done);
    expect(second.done).toEqual([]);
    const third = new Alone(store, KINDS);
    await run(sumPlan(5).plan, store, third);
    expect(third.done.map(({ spec }) => spec)).toMatchObject([{ n: 5 }, {}]);
  });

  it("keeps what was made of results that new code makes alike", async () => {
    const store = new FolderStore(newFolder());
    const folder = newFolder();
    const file = join(folder, "count.ts");
    const own = { ...KINDS, count: { ...KINDS.count, module: pathToFileURL(file) } };
    const redone = async (code: string) => {
      writeFileSync(file, code);
      const crew = new Alone(store, own);
      await run(sumPlan().plan, store, crew, { kinds: own });
      return crew.done.map(({ kind }) => kind);
    };
    expect(await redone("// first")).toHaveLength(3);
    expect(await redone("// second")).toEqual(["count", "count"]);
  });

  it("fails with the job's name, and keeps what is done", async () => {
    const store = new FolderStore(newFolder());
    const { plan, total } = sumPlan();
    plan.add({ kind: "fail", spec: {}, needs: [total] }, { label: "a bad job", seconds: 1 });
    await expect(run(plan, store, new Alone(store, KINDS))).rejects.toThrow(JobFailed);
    const again = new Alone(store, KINDS);
    await expect(run(plan, store, again)).rejects.toThrow(
      errorText("a bad job failed: out of luck"),
    );
    expect(again.done).toEqual([]);
  });

  it("stops when told to, and goes on from where it was", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    const id = plan.add({ kind: "stubborn", spec: {}, needs: [] }, ABOUT);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(await run(plan, store, new Alone(store, KINDS), { signal: stop.signal })).toBe(false);
    const done = await run(plan, store, new Alone(store, KINDS));
    expect(done && (await store.get(done.get(id)!)).value).toBe("half-way");
    expect(readdirSync(join(store.folder, "work"))).toEqual([]);
  });

  it("begins with what others wait for longest", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    plan.add({ kind: "count", spec: { n: 1 }, needs: [] }, { label: "", seconds: 5 });
    const short = plan.add({ kind: "count", spec: { n: 2 }, needs: [] }, { label: "", seconds: 1 });
    plan.add({ kind: "sum", spec: { of: [short] }, needs: [short] }, { label: "", seconds: 9 });
    const crew = Object.assign(new Alone(store, KINDS), { size: 1 });
    await run(plan, store, crew);
    expect(crew.done.map(({ spec }) => spec)).toMatchObject([{ n: 2 }, { of: [short] }, { n: 1 }]);
  });
});

describe("the store", () => {
  it("has no result that is damaged", async () => {
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

  it("says so where it cannot write", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    await expect(new FolderStore(join(file, "cache")).open()).rejects.toThrow(InputError);
  });
});

describe("the code of a module", () => {
  it("is all that it imports at run time, and nothing else", () => {
    const folder = newFolder();
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    const code = () => codeOf(pathToFileURL(join(folder, "a.ts")));
    write("a.ts", 'import { b } from "./b.ts";\nimport type { T } from "./types.ts";\n');
    write(
      "b.ts",
      'import {\n  c,\n  type D,\n} from "./c.ts";\nnew Worker(new URL("./d.ts", import.meta.url));\n',
    );
    for (const name of ["c.ts", "d.ts", "types.ts", "other.ts"]) write(name, "// 1\n");
    const before = code();
    write("types.ts", "// 2\n");
    write("other.ts", "// 2\n");
    expect(code()).toBe(before);
    for (const name of ["c.ts", "d.ts"]) {
      write(name, "// 2\n");
      expect(code()).not.toBe(before);
      write(name, "// 1\n");
      expect(code()).toBe(before);
    }
  });
});

describe("threads", () => {
  const crewOn = (store: FolderStore, threads: number) => {
    const kinds = new URL("./kinds.fixture.ts", import.meta.url);
    const crew = new Threads({ threads, kinds, store: store.folder, files: {}, places: PLACES });
    onTestFinished(() => crew.close());
    return crew;
  };

  it("give the same results, however many there are", async () => {
    const results = [1, 3].map(async (threads) => {
      const store = new FolderStore(newFolder());
      const { plan, total } = sumPlan();
      const done = await run(plan, store, crewOn(store, threads));
      return done && { done, total: await store.get(done.get(total)!) };
    });
    const [one, three] = await Promise.all(results);
    expect(one).toEqual(three);
    expect(one).toMatchObject({ total: { value: { total: 16 } } });
  });

  it("say what was wrong with the input as it was said to them", async () => {
    const store = new FolderStore(newFolder());
    const plan = new Plan();
    plan.add({ kind: "fail", spec: { input: true }, needs: [] }, ABOUT);
    const failed = await run(plan, store, crewOn(store, 1)).catch((error: Error) => error.cause);
    expect(failed).toBeInstanceOf(InputError);
    expect(failed).toMatchObject({ file: "data.jsonl", line: 3, hint: "fill it" });
  });

  it("stop by themselves, and take nothing more", async () => {
    const store = new FolderStore(newFolder());
    const crew = crewOn(store, 2);
    const task = { key: "cd".repeat(32), kind: "stubborn", spec: {}, inputs: {} };
    const begun = crew.perform(task);
    setTimeout(() => crew.stop(), 100);
    await expect(begun).rejects.toThrow(Stopped);
    await expect(crew.perform(task)).rejects.toThrow(Stopped);
  });
});
