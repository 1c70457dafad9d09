import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { InputError } from "../../core/input/input-error.ts";
import { type PostgresServer, startPostgres } from "../../store/postgres/server.fixture.ts";
import { JobDatabase } from "./database.ts";
import { sha256 } from "./hash.ts";
import KINDS from "./kinds.fixture.ts";
import { LocalWorkers } from "./local-workers.fixture.ts";
import { Plan } from "./plan.ts";
import { RemoteWorkers } from "./remote-workers.ts";
import { runPlan } from "./run-plan.ts";
import { FolderStore } from "./store.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-workers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A `joust work` process with the kinds of the tests. */
function startWorker(url: string): ChildProcess {
  const script = join(import.meta.dirname, "work.child.fixture.ts");
  const child = spawn(process.execPath, [script, url, newFolder()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Resolves when the worker has begun a task of this kind. */
function begun(child: ChildProcess, kind: string): Promise<void> {
  return new Promise((done) => {
    child.stdout!.on("data", (piece: Buffer) => {
      if (String(piece).includes(`begun ${kind}`)) done();
    });
  });
}

/** Jobs count -> sum for several numbers, and some slow jobs. */
function planOf(slow: number): { plan: Plan; totals: string[] } {
  const plan = new Plan();
  const about = { label: "a job", seconds: 1 };
  const totals = Array.from({ length: 6 }, (_, i) => {
    const of = [plan.add("count", { n: 4 + i }, about)];
    return plan.add("sum", { of }, about);
  });
  for (let i = 0; i < slow; i++) {
    totals.push(plan.add("slow", { i, milliseconds: 3000 }, about));
  }
  return { plan, totals };
}

const server = await startPostgres();

describe.skipIf(typeof server === "string")("workers on a PostgreSQL", () => {
  const { newDatabase, stop } = server as PostgresServer;
  afterAll(() => stop());
  const workersOn = async (url: string, store: FolderStore, files = {}) => {
    const workers = await RemoteWorkers.open(url, store, files);
    onTestFinished(() => workers.close());
    return workers;
  };

  it("three workers, one of them killed, give the same bits as one thread", async () => {
    const url = await newDatabase();
    const { plan, totals } = planOf(4);
    const here = new FolderStore(newFolder());
    const alone = await runPlan(plan, {
      kinds: KINDS,
      store: here,
      workers: new LocalWorkers(here, KINDS),
    });
    const store = new FolderStore(newFolder());
    const workers = await workersOn(url, store);
    const processes = [startWorker(url), startWorker(url), startWorker(url)];
    const [victim] = processes;
    const dying = begun(victim!, "slow").then(() => victim!.kill("SIGKILL"));
    const done = await runPlan(plan, { kinds: KINDS, store, workers });
    await dying;
    expect(done).toEqual(alone);
    for (const id of totals) {
      const key = done!.get(id)!;
      expect(await store.get(key)).toEqual(await here.get(key));
      expect(await store.find(key)).toBe(await here.find(key));
    }
  });

  it("get files through the database, and pass on an InputError", async () => {
    const url = await newDatabase();
    const file = join(newFolder(), "data.txt");
    writeFileSync(file, "seven words are enough for one line");
    const ref = { name: "data.txt", sha256: sha256("seven words are enough for one line") };
    const store = new FolderStore(newFolder());
    const workers = await workersOn(url, store, { [ref.sha256]: file });
    startWorker(url);
    const plan = new Plan();
    const about = { label: "a job", seconds: 1 };
    const id = plan.add("words", { file: ref }, about);
    const done = await runPlan(plan, { kinds: KINDS, store, workers });
    expect(done && (await store.get(done.get(id)!)).value).toEqual({ words: 7 });
    const bad = new Plan();
    bad.add("fail", { input: true }, about);
    const failed = await runPlan(bad, { kinds: KINDS, store, workers }).catch(
      (e: Error) => e.cause,
    );
    expect(failed).toBeInstanceOf(InputError);
    expect(failed).toMatchObject({ file: "data.jsonl", line: 3, hint: "fill it" });
  });

  it("a result is stored once and read back unchanged", async () => {
    const database = await JobDatabase.open(await newDatabase());
    const result = { value: { a: 1 }, matrix: { columns: 2, data: Float32Array.of(1, 2, 3, 4) } };
    await Promise.all([database.put("k", result), database.put("k", result)]);
    expect(await database.get("k")).toEqual(result);
    const here = new FolderStore(newFolder());
    await here.put("ab", result);
    expect(await database.find("k")).toBe(await here.find("ab"));
    expect(await database.find("other")).toBeUndefined();
    await database.close();
  });

  it("an address without a database is refused", async () => {
    await expect(JobDatabase.open("postgres://joust@127.0.0.1:1/none")).rejects.toThrow(InputError);
  });
});
