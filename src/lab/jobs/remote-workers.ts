import { readFile } from "node:fs/promises";
import { Logger, makeWorkerUtils, type WorkerUtils } from "graphile-worker";
import { fromPlainError } from "../../core/threads/plain-error.ts";
import { JobDatabase, TASK_NAME } from "./database.ts";
import { filesIn, type Result, Stopped, type Task, type Workers } from "./job.ts";
import type { FolderStore } from "./store.ts";

/** Tasks in the queue at a time: more than all workers together can run. */
const SIZE = 256;
const POLL_EVERY = 500; // milliseconds
const FIND_DEAD_EVERY = 5000;

/** Standard output belongs to the command, and failures are reported through the database. */
export const SILENT = new Logger(() => () => {});

/**
 * `joust work` processes on any machines. They receive tasks through graphile-worker,
 * and files, inputs and results through the same database.
 */
export class RemoteWorkers implements Workers {
  readonly size = SIZE;
  readonly #database: JobDatabase;
  readonly #utils: WorkerUtils;
  readonly #local: FolderStore;
  readonly #files: Readonly<Record<string, string>>;
  readonly #waiting = new Map<string, PromiseWithResolvers<Result>>();
  readonly #timers: NodeJS.Timeout[];
  #polling = Promise.resolve();

  private constructor(
    database: JobDatabase,
    utils: WorkerUtils,
    local: FolderStore,
    files: Readonly<Record<string, string>>,
  ) {
    this.#database = database;
    this.#utils = utils;
    this.#local = local;
    this.#files = files;
    const repeat = (work: () => Promise<void>, every: number) =>
      setInterval(() => {
        // Only one query runs at a time. If the database does not respond, the next interval tries again.
        this.#polling = this.#polling.then(work).catch(() => {});
      }, every);
    this.#timers = [
      repeat(() => this.#collect(), POLL_EVERY),
      repeat(() => this.#releaseTasksOfDeadWorkers(), FIND_DEAD_EVERY),
    ];
  }

  /** `files` holds the paths of data files by their SHA-256. */
  static async open(
    url: string,
    local: FolderStore,
    files: Readonly<Record<string, string>>,
  ): Promise<RemoteWorkers> {
    const database = await JobDatabase.open(url);
    const utils = await makeWorkerUtils({ pgPool: database.pool, logger: SILENT });
    await utils.migrate();
    return new RemoteWorkers(database, utils, local, files);
  }

  async run(task: Task): Promise<Result> {
    for (const file of filesIn(task.spec)) {
      await this.#database.putFile(file, () => readFile(this.#files[file.sha256]!));
    }
    for (const key of Object.values(task.inputs)) {
      if ((await this.#database.find(key)) !== undefined) continue;
      await this.#database.put(key, await this.#local.get(key));
    }
    await this.#database.deleteFailure(task.key);
    const done = Promise.withResolvers<Result>();
    this.#waiting.set(task.key, done);
    // Another process may run the same plan, and the task may be queued or running already.
    const unique = { jobKey: task.key, jobKeyMode: "unsafe_dedupe" } as const;
    await this.#utils.addJob(TASK_NAME, task, unique);
    return done.promise;
  }

  stop(): void {
    for (const { reject } of this.#waiting.values()) reject(new Stopped());
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    this.stop();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#polling;
    await this.#utils.release();
    await this.#database.close();
  }

  async #collect(): Promise<void> {
    const keys = [...this.#waiting.keys()];
    if (keys.length === 0) return;
    for (const key of (await this.#database.digests(keys)).keys()) {
      const result = await this.#database.get(key);
      this.#waiting.get(key)?.resolve(result);
      this.#waiting.delete(key);
    }
    for (const [key, error] of await this.#database.failures(keys)) {
      this.#waiting.get(key)?.reject(fromPlainError(error));
      this.#waiting.delete(key);
    }
  }

  async #releaseTasksOfDeadWorkers(): Promise<void> {
    const dead = await this.#database.deadWorkers();
    if (dead.length > 0) await this.#utils.forceUnlockWorkers(dead);
  }
}
