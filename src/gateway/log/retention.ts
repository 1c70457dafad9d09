import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";

/** Deletes old decisions and prompts every hour. Votes stay: they hold everything they teach. */
export class Retention {
  readonly #timer: NodeJS.Timeout;

  /** `days` is the age at which entries are deleted; undefined keeps them. */
  constructor(store: Store, days: () => number | undefined, clock: Clock, logger: Logger) {
    this.#timer = setInterval(async () => {
      const age = days();
      if (age === undefined) return;
      const before = clock.date() - age * DAY_MS;
      try {
        const deleted = await store.prune({ decisions: before, prompts: before });
        if (deleted.decisions + deleted.prompts > 0) logger.info(deleted, "deleted old decisions");
      } catch (error) {
        logger.warn({ err: error }, "old decisions could not be deleted; trying again in an hour");
      }
    }, HOUR_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
