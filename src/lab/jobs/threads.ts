import type { ResourceLimits } from "node:worker_threads";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { moduleUrl } from "../../core/input/project.ts";
import { Pool } from "../../core/threads/pool.ts";
import { Thread } from "../../core/threads/thread.ts";
import { type Result, Stopped, type Task, type Workers } from "./job.ts";
import type { JobMethods, WorkerData } from "./jobs.worker.ts";

export interface ThreadsOptions {
  readonly threads: number;
  /** Module whose default export holds the kinds of jobs, by name. */
  readonly kinds: URL;
  /** Folder of the store; none if no job needs the result of another. */
  readonly store?: string | undefined;
  /** Paths of data files by their SHA-256. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly places?: EncoderPlaces | undefined;
  /** Data for all jobs. What is in shared memory is not copied. */
  readonly shared?: unknown;
  /**
   * Whether the jobs run code of the user: its output then goes to standard error,
   * and `stop` ends the threads at once. Without it the threads stop by themselves,
   * because ending a thread inside onnxruntime ends the process.
   */
  readonly foreign?: boolean | undefined;
  readonly resourceLimits?: ResourceLimits | undefined;
}

/** Worker threads of this process. */
export class Threads implements Workers {
  readonly size: number;
  readonly #pool: Pool<JobMethods>;
  readonly #foreign: boolean;
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  readonly #onProgress: (((share: number) => void) | undefined)[] = [];

  constructor(options: ThreadsOptions) {
    const { threads, kinds, store, files = {}, places, shared, foreign = false } = options;
    const data = { kinds: kinds.href, store, files, places, shared, stop: this.#stop };
    this.size = threads;
    this.#foreign = foreign;
    this.#pool = new Pool<JobMethods>(
      threads,
      (slot) =>
        new Thread<JobMethods>(WORKER, {
          workerData: { ...data, exit: foreign } satisfies WorkerData,
          resourceLimits: options.resourceLimits,
          stdoutToStderr: foreign,
          errors: [Stopped],
          onEvent: (share) => this.#onProgress[slot]?.(share as number),
        }),
    );
  }

  async run(task: Task, onProgress?: (share: number) => void): Promise<Result> {
    if (this.#isStopped) throw new Stopped();
    try {
      return await this.#pool.run((methods, slot) => {
        this.#onProgress[slot] = onProgress;
        return methods.run(task);
      });
    } catch (error) {
      throw this.#isStopped ? new Stopped() : error;
    }
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
    if (this.#foreign) void this.#pool.terminate();
  }

  async close(): Promise<void> {
    if (this.#isStopped && this.#foreign) await this.#pool.terminate();
    else await this.#pool.close();
  }

  get #isStopped(): boolean {
    return Atomics.load(this.#stop, 0) === 1;
  }
}

const WORKER = moduleUrl(new URL("./jobs.worker.ts", import.meta.url));
