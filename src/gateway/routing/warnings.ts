import type { Logger } from "pino";
import type { Clock } from "../clock/clock.ts";
import type { Serving } from "./serving.ts";

/** Logs the warnings of the routers within a minute, and then once per hour while they last. */
export class Warnings {
  readonly #serving: () => Serving;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #isLogged: () => boolean;
  readonly #loggedAt = new Map<string, number>();
  readonly #timer = setInterval(() => this.check(), CHECK_MS).unref();

  /** Only one process of a machine logs the warnings: the one for which `isLogged` is true. */
  constructor(serving: () => Serving, clock: Clock, logger: Logger, isLogged = () => true) {
    this.#serving = serving;
    this.#isLogged = isLogged;
    this.#clock = clock;
    this.#logger = logger;
  }

  check(): void {
    if (!this.#isLogged()) return;
    const now = this.#clock.now();
    for (const { name, warnings } of this.#serving().routers.values()) {
      const loggedAt = this.#loggedAt.get(name) ?? Number.NEGATIVE_INFINITY;
      if (warnings.length === 0 || now - loggedAt < REPEAT_MS) continue;
      this.#loggedAt.set(name, now);
      for (const warning of warnings) this.#logger.warn({ router: name }, warning);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const CHECK_MS = 60_000;
const REPEAT_MS = 3_600_000;
