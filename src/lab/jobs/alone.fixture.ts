import type { Crew, Kind, Task } from "./job.ts";
import { performTask, Workplace } from "./perform.ts";
import type { FolderStore } from "./store.ts";

export const PLACES = {
  models: { search: [], download: "", hubCache: "" },
  openai: { apiKey: "" },
  vectors: "",
};

/** Works in this very thread, and counts what it did. */
export class Alone implements Crew {
  readonly size = 2;
  readonly done: Task[] = [];
  readonly #workplace: Workplace;
  readonly #kinds: Readonly<Record<string, Kind>>;
  #stopped = false;

  constructor(
    store: FolderStore,
    kinds: Readonly<Record<string, Kind>>,
    files: Readonly<Record<string, string>> = {},
  ) {
    this.#kinds = kinds;
    const { folder } = store;
    const stopped = () => this.#stopped;
    this.#workplace = new Workplace({ store, folder, files, places: PLACES, stopped });
  }
  async perform(task: Task): Promise<void> {
    await performTask(task, this.#kinds, this.#workplace);
    this.done.push(task);
  }
  stop(): void {
    this.#stopped = true;
  }
  async close(): Promise<void> {}
}
