import { readFile } from "node:fs/promises";
import { makeWorkerUtils, type WorkerUtils } from "graphile-worker";
import { InputError } from "../../core/input/input-error.ts";
import { filesIn } from "./files.ts";
import { type Crew, Stopped, type Task } from "./job.ts";
import { type Failure, JobDatabase, TASK_NAME } from "./job-database.ts";
import { SILENT } from "./silent-logger.ts";
import type { FolderStore } from "./store.ts";

/** Tasks put into the queue at a time: more than all workers together can do. */
const SIZE = 256;
const POLL = 500; // milliseconds
/** Between two looks for workers that have died. */
const PATROL = 5000;

/**
 * A crew of `joust work` processes, on any machines: tasks go to them through
 * graphile-worker, files and results through the same database. What is needed
 * for a task is put there first; its result comes into the local store.
 */
export class PostgresCrew implements Crew {
  readonly size = SIZE;
  readonly #database: JobDatabase;
  readonly #utils: WorkerUtils;
  readonly #local: FolderStore;
  readonly #files: Readonly<Record<string, string>>;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
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
    const each = (work: () => Promise<void>, every: number) =>
      setInterval(() => {
        // One at a time; a database that is away for a moment is asked again.
        this.#polling = this.#polling.then(work).catch(() => {});
      }, every);
    this.#timers = [each(() => this.#collect(), POLL), each(() => this.#patrol(), PATROL)];
  }

  /** `files` are the paths of data files by their checksums. */
  static async open(
    url: string,
    local: FolderStore,
    files: Readonly<Record<string, string>>,
  ): Promise<PostgresCrew> {
    const database = await JobDatabase.open(url);
    const utils = await makeWorkerUtils({ pgPool: database.pool, logger: SILENT });
    await utils.migrate();
    return new PostgresCrew(database, utils, local, files);
  }

  async perform(task: Task): Promise<void> {
    for (const file of filesIn(task.spec)) {
      await this.#database.putFile(file, () => readFile(this.#files[file.sha256]!));
    }
    for (const key of Object.values(task.inputs)) {
      if ((await this.#database.find(key)) === undefined) {
        await this.#database.put(key, await this.#local.get(key));
      }
    }
    await this.#database.forgetFailure(task.key);
    const done = Promise.withResolvers<void>();
    this.#waiting.set(task.key, done);
    // Another who runs the same plan may have added it, and somebody may be at it.
    const spec = { jobKey: task.key, jobKeyMode: "unsafe_dedupe" } as const;
    await this.#utils.addJob(TASK_NAME, task, spec);
    await done.promise;
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
      await this.#local.put(key, await this.#database.get(key));
      this.#waiting.get(key)?.resolve();
      this.#waiting.delete(key);
    }
    for (const [key, failure] of await this.#database.failures(keys)) {
      this.#waiting.get(key)?.reject(errorOf(failure));
      this.#waiting.delete(key);
    }
  }

  async #patrol(): Promise<void> {
    const dead = await this.#database.dead();
    if (dead.length > 0) await this.#utils.forceUnlockWorkers(dead);
  }
}

function errorOf({ message, input }: Failure): Error {
  return input ? new InputError(input, input.problem, input.hint) : new Error(message);
}
