import type { Logger } from "pino";
import { Thread } from "../../core/threads/thread.ts";
import { ALONE, type Peers } from "../peers/peers.ts";
import type { GuardMethods, GuardTask } from "./guard.worker.ts";
import type { LiveRouter } from "./live-router.ts";
import type { Serving } from "./serving.ts";

/**
 * Checks regularly whether a fixed model does better than a router, and then serves that model. The
 * first process of this machine checks, and all serve the model that it finds.
 */
export class Guard {
  readonly #serving: () => Serving;
  readonly #place: Pick<GuardTask, "folder" | "store">;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  readonly #peers: Peers;
  /** Version of the posterior at the last check of each router. */
  readonly #judged = new WeakMap<LiveRouter, number>();
  #running: Promise<void> | undefined;
  #thread: Thread<GuardMethods> | undefined;
  #isStopped = false;

  constructor(
    serving: () => Serving,
    place: Pick<GuardTask, "folder" | "store">,
    logger: Logger,
    everyMs = EVERY_MS,
    peers: Peers = ALONE,
  ) {
    this.#serving = serving;
    this.#place = place;
    this.#logger = logger;
    this.#peers = peers;
    peers.on("guard", ([name, model]: [string, string | undefined]) => {
      const router = serving().routers.get(name);
      if (router) router.guard = model;
    });
    this.#timer = setInterval(() => this.check(), everyMs);
    this.#timer.unref();
  }

  /** Checks every router that has learned since its last check. */
  check(): Promise<void> {
    this.#running ??= this.#checkAll().finally(() => {
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

  async #checkAll(): Promise<void> {
    for (const router of this.#serving().routers.values()) {
      if (this.#isStopped || !this.#peers.isFirst) return;
      const { version } = router.view;
      if (!router.config.guard || this.#judged.get(router) === version) continue;
      this.#judged.set(router, version);
      await this.#checkOne(router).catch((error: unknown) => {
        if (this.#isStopped) return;
        this.#logger.error(
          { err: error, router: router.name },
          "the guard could not check a router",
        );
      });
    }
  }

  async #checkOne(router: LiveRouter): Promise<void> {
    const { name, config } = router;
    const task: GuardTask = { router: name, config, ...this.#place };
    this.#thread = new Thread(new URL("./guard.worker.ts", import.meta.url), {
      // The thread reads many pages of embeddings; with a large nursery, garbage would reach 100 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    try {
      const model = await this.#thread.methods.judge(task);
      if (model !== router.guard) {
        const message = model
          ? "votes show that one model does better than routing, so it answers all requests for now"
          : "routing is no longer worse than one model and is on again";
        this.#logger.warn({ router: name, model: model ?? router.guard }, message);
      }
      router.guard = model;
      this.#peers.keep("guard", `guard ${name}`, [name, model]);
    } finally {
      await this.#thread.terminate();
      this.#thread = undefined;
    }
  }
}

const EVERY_MS = 10 * 60_000;
