import type { Clock } from "../clock/clock.ts";
import type { Metrics } from "./metrics.ts";

type Stage = "parse" | "encode" | "decide";

/**
 * Measures the time before a model is called, by stage. `report` passes it to the metrics
 * later, because counting takes time as well.
 */
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

  /** Marks the end of a stage. */
  stage(name: Stage): void {
    this.#ends.push([name, this.#clock.now()]);
  }

  /** Marks the call of the model. */
  called(): void {
    this.#calledAt = this.#clock.now();
  }

  report(): void {
    const { stage, added } = this.#metrics;
    let last = this.startedAt;
    for (const [name, end] of this.#ends) {
      stage[name].observe((end - last) / 1000);
      last = end;
    }
    added.observe((this.#calledAt - this.startedAt) / 1000);
  }
}
