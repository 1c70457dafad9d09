import { setTimeout as sleep } from "node:timers/promises";
import { Moved } from "../../core/threads/serve.ts";
import { Thread } from "../../core/threads/thread.ts";
import type { StoreThread } from "./store.worker.ts";

interface HostOptions {
  readonly file: string;
  readonly send: (client: number, payload: Uint8Array) => void;
  /** Called when the thread has ended by itself. Its unanswered calls are lost. */
  readonly onLost: (cause: unknown) => void;
}

/**
 * The SQLite store of several processes, on a thread of the process that supervises them. The
 * thread is the only writer of the file. If it ends by itself, it is opened again: everything
 * that it has acknowledged is in the file.
 */
export class HostThread {
  readonly #options: HostOptions;
  #thread: Thread<StoreThread>;
  #isClosed = false;

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  static async open(options: HostOptions): Promise<HostThread> {
    const host = new HostThread(options);
    await host.#thread.opened;
    host.#watch();
    return host;
  }

  /** Passes the calls of a client to the store. */
  receive(client: number, payload: Uint8Array): void {
    // The payload is a part of a larger buffer, which must not be moved.
    const own = new Uint8Array(payload);
    this.#thread.methods
      .receive(client, new Moved(own, [own.buffer]))
      .catch((error: unknown) => this.#options.onLost(error));
  }

  /** Releases the leases of a client that has ended. */
  remove(client: number): void {
    this.#thread.methods.remove(client).catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread.close();
  }

  /** Ends the thread as a defect would. Tests use it. */
  async crash(): Promise<void> {
    await this.#thread.terminate();
  }

  #start(): Thread<StoreThread> {
    return new Thread<StoreThread>(new URL("./store.worker.ts", import.meta.url), {
      workerData: this.#options.file,
      // The thread's objects live for one batch; a larger nursery would only grow.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
      onEvent: (event) => {
        const { client, payload } = event as { client: number; payload: Uint8Array };
        this.#options.send(client, payload);
      },
    });
  }

  async #watch(): Promise<void> {
    const thread = this.#thread;
    await thread.ended;
    if (this.#isClosed) return;
    const cause = await thread.methods.remove(-1).catch((error: unknown) => error);
    this.#thread = this.#start();
    this.#options.onLost(cause);
    // If the file cannot be opened, the next attempt follows after a pause.
    await this.#thread.opened.catch(() => sleep(AGAIN_MS));
    this.#watch();
  }
}

const AGAIN_MS = 1000;
