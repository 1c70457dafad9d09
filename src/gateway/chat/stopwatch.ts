import type { Gateway } from "../gateway.ts";

type Stage = "parse" | "encode" | "decide";

/** Where the time goes that a request waits here before a model is called. Told afterwards: counting takes time too. */
export class Stopwatch {
  readonly startedAt: number;
  readonly #gateway: Pick<Gateway, "clock" | "metrics">;
  readonly #ends: (readonly [Stage, number])[] = [];
  #calledAt = Number.NaN;

  constructor(gateway: Pick<Gateway, "clock" | "metrics">) {
    this.#gateway = gateway;
    this.startedAt = gateway.clock.now();
  }

  /** A stage is over. */
  stage(name: Stage): void {
    this.#ends.push([name, this.#gateway.clock.now()]);
  }

  called(): void {
    this.#calledAt = this.#gateway.clock.now();
  }

  tell(): void {
    const { stage, added } = this.#gateway.metrics;
    let last = this.startedAt;
    for (const [name, end] of this.#ends) {
      stage[name].observe((end - last) / 1000);
      last = end;
    }
    added.observe((this.#calledAt - this.startedAt) / 1000);
  }
}
