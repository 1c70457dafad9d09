import type { Logger } from "pino";
import { Thread } from "../../core/threads/thread.ts";
import type { GuardMethods, GuardTask } from "./guard.worker.ts";
import type { LiveRouter } from "./live-router.ts";
import type { Serving } from "./serving.ts";

/** Looks now and then whether a fixed model would do better than each router, and has it served then. */
export class Guard {
  readonly #serving: () => Serving;
  readonly #place: Pick<GuardTask, "folder" | "store">;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  /** Versions of the posterior that were judged. */
  readonly #judged = new WeakMap<LiveRouter, number>();
  #running: Promise<void> | undefined;
  #thread: Thread<GuardMethods> | undefined;
  #isStopped = false;

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
    this.#isStopped = true;
    await this.#thread?.terminate();
    await this.#running;
  }

  async #lookAtAll(): Promise<void> {
    for (const router of this.#serving().routers.values()) {
      const { version } = router.view;
      if (!router.config.guard) router.guard = undefined;
      else if (this.#judged.get(router) !== version) {
        this.#judged.set(router, version);
        await this.#lookAt(router).catch((error: unknown) => {
          if (this.#isStopped) return;
          this.#logger.error({ err: error, router: router.name }, "the guard could not judge");
        });
      }
    }
  }

  async #lookAt(router: LiveRouter): Promise<void> {
    const { name, config } = router;
    const task: GuardTask = { router: name, config, ...this.#place };
    this.#thread = new Thread(new URL("./guard.worker.ts", import.meta.url), {
      // The thread reads many pages of embeddings; with a large nursery, garbage would reach 100 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    try {
      const model = await this.#thread.methods.judge(task);
      if (model !== router.guard) {
        const said = model
          ? "votes say that one model alone does better than routing: it is served until they say otherwise"
          : "routing is no longer worse than one model alone, and is on again";
        this.#logger.warn({ router: name, model: model ?? router.guard }, said);
      }
      router.guard = model;
    } finally {
      await this.#thread.terminate();
      this.#thread = undefined;
    }
  }
}

const EVERY_MS = 10 * 60_000;
