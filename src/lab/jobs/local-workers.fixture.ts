import { contextsWith } from "./context.ts";
import type { Context, Kinds, Result, Task, Workers } from "./job.ts";
import type { FolderStore } from "./store.ts";

export const PLACES = {
  models: { search: [], download: "", hubCache: "" },
  openai: { apiKey: "" },
  embeddingCache: "",
};

interface LocalOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly size?: number;
  /** Called when a job reports its progress. */
  onProgress?(): void;
}

/** Runs jobs in the thread of the test and records them. */
export class LocalWorkers implements Workers {
  readonly size: number;
  readonly done: Task[] = [];
  readonly #kinds: Kinds;
  readonly #contextOf: (task: Task) => Context;
  #stopped = false;

  constructor(store: FolderStore, kinds: Kinds, { size = 2, ...options }: LocalOptions = {}) {
    this.size = size;
    this.#kinds = kinds;
    const stopped = () => this.#stopped;
    this.#contextOf = contextsWith({ store, places: PLACES, stopped, ...options });
  }

  async run(task: Task): Promise<Result> {
    const result = await this.#kinds[task.kind]!.run(task.spec, this.#contextOf(task));
    this.done.push(task);
    return result;
  }

  stop(): void {
    this.#stopped = true;
  }

  async close(): Promise<void> {}
}
