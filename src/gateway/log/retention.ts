import type { Logger } from "pino";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";

/** Deletes old days of decisions every hour. Votes are kept: they contain everything that is learned from them. */
export class Retention {
  readonly #timer: NodeJS.Timeout;

  /** `days` is the age at which entries are deleted; undefined keeps them. */
  constructor(store: Store, days: () => number | undefined, clock: Clock, logger: Logger) {
    this.#timer = setInterval(async () => {
      const age = days();
      if (age === undefined) return;
      const before = clock.date() - age * DAY_MS;
      try {
        const { decisions } = await store.prune({ decisions: before });
        if (decisions > 0) logger.info({ decisions }, "deleted old decisions");
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

const HOUR_MS = 3_600_000;
