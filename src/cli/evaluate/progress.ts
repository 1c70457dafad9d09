import type { DollarLimit } from "../../gateway/access/dollar-limit.ts";
import { drawBar, type StatusLine, statusLine, timeLeft } from "../shared/status-line.ts";
import { usd } from "./output.ts";

/** Progress of an evaluation on standard error: a status line in a terminal, otherwise a line at every tenth. */
export class Progress {
  readonly #noun: string;
  readonly #total: number;
  readonly #limit: DollarLimit;
  readonly #status: StatusLine | undefined = statusLine(process.stderr);
  readonly #startedAt = performance.now();
  readonly #spentBefore: number;
  #done = 0;
  /** Items that were finished before this run had spent anything. */
  #earlier = 0;

  constructor(noun: string, total: number, limit: DollarLimit) {
    this.#noun = noun;
    this.#total = total;
    this.#limit = limit;
    this.#spentBefore = limit.spent;
  }

  step(): void {
    this.#done++;
    if (this.#limit.spent === this.#spentBefore) this.#earlier = this.#done;
    if (this.#status) this.#status.show(`${drawBar(this.#done, this.#total)} ${this.#line()}`);
    else if (this.#tenth(this.#done) > this.#tenth(this.#done - 1)) {
      process.stderr.write(`joust: ${this.#line()}\n`);
    }
  }

  end(): void {
    this.#status?.clear();
  }

  #tenth(done: number): number {
    return Math.floor((10 * done) / this.#total);
  }

  #line(): string {
    const fresh = this.#done - this.#earlier;
    const elapsed = performance.now() - this.#startedAt;
    const left = fresh > 0 ? (elapsed / fresh) * (this.#total - this.#done) : undefined;
    const { limit, spent } = this.#limit;
    return `${this.#done}/${this.#total} ${this.#noun}${timeLeft(left)}, ${usd(Math.max(0, limit - spent))} of ${usd(limit)} left`;
  }
}
