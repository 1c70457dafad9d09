import type { Stage } from "../../api/sandbox.ts";

/** True quality and cost of one answer: of the model that the router chose, and of the best single model. */
interface Measured {
  readonly quality: number;
  readonly cost: number;
  readonly bestQuality: number;
  readonly bestCost: number;
}

/**
 * Quality and cost of the routed requests of simulated people by the number of votes cast before
 * them. Stages have 25 votes; when there are more than 40 stages, neighbours are merged.
 */
export class Progress {
  #size = FIRST_SIZE;
  #sums: Sums[] = [];

  get stages(): Stage[] {
    return this.#sums.flatMap(({ requests, quality, cost, bestQuality, bestCost }, i) =>
      requests === 0
        ? []
        : [
            {
              votes: i * this.#size,
              requests,
              quality: quality / requests,
              cost: cost / requests,
              best_quality: bestQuality / requests,
              best_cost: bestCost / requests,
            },
          ],
    );
  }

  /** Adds a request that was sent when `votes` votes had been cast. */
  add(votes: number, { quality, cost, bestQuality, bestCost }: Measured): void {
    while (votes >= MOST_STAGES * this.#size) this.#merge();
    const at = Math.floor(votes / this.#size);
    while (this.#sums.length <= at) this.#sums.push(newSums());
    const sums = this.#sums[at]!;
    sums.requests++;
    sums.quality += quality;
    sums.cost += cost;
    sums.bestQuality += bestQuality;
    sums.bestCost += bestCost;
  }

  #merge(): void {
    this.#size *= 2;
    const before = this.#sums;
    this.#sums = before
      .filter((_, i) => i % 2 === 0)
      .map((even, i) => total(even, before[2 * i + 1] ?? newSums()));
  }
}

const FIRST_SIZE = 25;
const MOST_STAGES = 40;

type Sums = { -readonly [name in keyof Measured]: number } & { requests: number };

function newSums(): Sums {
  return { requests: 0, quality: 0, cost: 0, bestQuality: 0, bestCost: 0 };
}

function total(a: Sums, b: Sums): Sums {
  return {
    requests: a.requests + b.requests,
    quality: a.quality + b.quality,
    cost: a.cost + b.cost,
    bestQuality: a.bestQuality + b.bestQuality,
    bestCost: a.bestCost + b.bestCost,
  };
}
