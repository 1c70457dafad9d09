import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { moduleUrl } from "../../core/input/project.ts";
import type { RouterConfig } from "../config/config.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Serving } from "../serving/serving.ts";

/** What the thread is to judge. */
export interface GuardTask {
  readonly router: string;
  readonly config: RouterConfig;
  /** Where paths in the configuration start. */
  readonly folder: string;
  readonly store: { readonly file: string } | { readonly url: string };
}

/** Looks now and then whether a fixed model would do better than each router, and has it served then. */
export class Guard {
  readonly #serving: () => Serving;
  readonly #place: Pick<GuardTask, "folder" | "store">;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  /** Versions of the posterior that were judged. */
  readonly #judged = new WeakMap<LiveRouter, number>();
  #running: Promise<void> | undefined;
  #worker: Worker | undefined;

  constructor(
    serving: () => Serving,
    place: Pick<GuardTask, "folder" | "store">,
    logger: Logger,
    everyMs = EVERY_MS,
  ) {
    this.#serving = serving;
    this.#place = place;
    this.#logger = logger;
    this.#timer = setInterval(() => this.look(), everyMs);
    this.#timer.unref();
  }

  /** Judges every router that has learnt something since. */
  look(): Promise<void> {
    this.#running ??= this.#lookAtAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker?.terminate();
    await this.#running;
  }

  async #lookAtAll(): Promise<void> {
    for (const router of this.#serving().routers.values()) {
      const { version } = router.view;
      if (!router.config.guard) router.guard = undefined;
      else if (this.#judged.get(router) !== version) {
        this.#judged.set(router, version);
        await this.#lookAt(router).catch((error: unknown) => {
          this.#logger.error({ err: error, router: router.name }, "the guard could not judge");
        });
      }
    }
  }

  async #lookAt(router: LiveRouter): Promise<void> {
    const { name, config } = router;
    const workerData: GuardTask = { router: name, config, ...this.#place };
    const worker = new Worker(moduleUrl(new URL("./guard.worker.ts", import.meta.url)), {
      workerData,
      // It reads page after page of vectors: collected late they would be 100 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    this.#worker = worker;
    try {
      const model = await new Promise<string | undefined>((found, fail) => {
        worker.once("message", (verdict: { model?: string }) => found(verdict.model));
        worker.once("error", fail);
        worker.once("exit", () => found(router.guard)); // stopped: all is as it was
      });
      if (model !== router.guard) {
        const said = model
          ? "votes say that one model alone does better than routing: it is served until they say otherwise"
          : "routing is no longer worse than one model alone, and is on again";
        this.#logger.warn({ router: name, model: model ?? router.guard }, said);
      }
      router.guard = model;
    } finally {
      this.#worker = undefined;
      await worker.terminate();
    }
  }
}

const EVERY_MS = 10 * 60_000;
