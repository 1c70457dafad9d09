import type { Clock } from "../clock/clock.ts";
import type { Metrics } from "./metrics.ts";

type Stage = "parse" | "encode" | "decide";

/** Where the time goes that a request waits here before a model is called. Told afterwards: counting takes time too. */
export class Stopwatch {
  readonly startedAt: number;
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #ends: (readonly [Stage, number])[] = [];
  #calledAt = Number.NaN;

  constructor(clock: Clock, metrics: Metrics) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.startedAt = clock.now();
  }

  /** A stage is over. */
  stage(name: Stage): void {
    this.#ends.push([name, this.#clock.now()]);
  }

  called(): void {
    this.#calledAt = this.#clock.now();
  }

  tell(): void {
    const { stage, added } = this.#metrics;
    let last = this.startedAt;
    for (const [name, end] of this.#ends) {
      stage[name].observe((end - last) / 1000);
      last = end;
    }
    added.observe((this.#calledAt - this.startedAt) / 1000);
  }
}
