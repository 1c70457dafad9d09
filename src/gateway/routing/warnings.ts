import type { Logger } from "pino";
import type { Clock } from "../clock/clock.ts";
import type { Serving } from "./serving.ts";

/** Logs what an operator should know of the routers: within a minute, then once an hour while it lasts. */
export class Warnings {
  readonly #serving: () => Serving;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #toldAt = new Map<string, number>();
  readonly #timer = setInterval(() => this.look(), LOOK_MS).unref();

  constructor(serving: () => Serving, clock: Clock, logger: Logger) {
    this.#serving = serving;
    this.#clock = clock;
    this.#logger = logger;
  }

  look(): void {
    const now = this.#clock.now();
    for (const { name, warnings } of this.#serving().routers.values()) {
      const toldAt = this.#toldAt.get(name) ?? Number.NEGATIVE_INFINITY;
      if (warnings.length === 0 || now - toldAt < AGAIN_MS) continue;
      this.#toldAt.set(name, now);
      for (const warning of warnings) this.#logger.warn({ router: name }, warning);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const LOOK_MS = 60_000;
const AGAIN_MS = 3_600_000;
