import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Serving } from "../routing/serving.ts";

/** Deletes decisions and prompts when they are old enough; votes stay, they carry what they teach. */
export class Retention {
  readonly #timer: NodeJS.Timeout;

  constructor(store: Store, serving: () => Serving, clock: Clock, logger: Logger) {
    this.#timer = setInterval(async () => {
      const { retention_days: days } = serving().config.store;
      if (days === undefined) return;
      const before = clock.date() - days * DAY_MS;
      try {
        const gone = await store.prune({ decisions: before, prompts: before });
        if (gone.decisions + gone.prompts > 0) logger.info(gone, "deleted what is too old");
      } catch (error) {
        logger.warn({ err: error }, "what is too old could not be deleted; it is tried again");
      }
    }, EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
