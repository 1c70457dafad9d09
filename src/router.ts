import { checkOptions } from "./bandit/options.ts";
import { Pacer } from "./bandit/pacer.ts";
import type { About, Outcome, PendingDuel, Policy } from "./bandit/policy.ts";
import { winOf } from "./bandit/policy.ts";
import { Voters } from "./bandit/voters.ts";
import type { Random } from "./random/random.ts";

/**
 * The online path: a query becomes a decision, a vote becomes knowledge. No
 * clock, no store and no network here, so that the simulator measures the very
 * code that a gateway serves.
 */
export class Router {
  readonly policy: Policy;
  readonly settings: RouterSettings;
  readonly voters = new Voters();
  readonly pacer: Pacer | undefined;
  readonly #pending = new Map<Decision, PendingDuel & { readonly since: number }>();
  #rounds = 0;

  constructor(policy: Policy, settings: Partial<RouterSettings> = {}) {
    this.policy = policy;
    this.settings = { ...ROUTER_DEFAULTS, ...settings };
    checkOptions("the router", this.settings, ROUTER_ABOUT);
    const { budget, costUnit } = this.settings;
    this.pacer = budget > 0 ? new Pacer(budget / costUnit) : undefined;
  }

  route(query: RouteQuery, random: Random): Decision {
    const { x, candidates } = query;
    const penalty = this.#penalty(query);
    const pending = this.settings.pending > 0 ? this.#awaited() : undefined;
    const choice = this.policy.choose({ x, candidates, penalty, pending }, random.split("choose"));
    checkPair(choice.pair, candidates);
    const { pair, propensity } = this.#explore(choice.pair, candidates, random.split("explore"));
    // The order in which two answers are shown is fair, so that position bias can be told apart.
    const flip = random.split("order").uniform() < 0.5;
    const shown = flip ? ([pair[1], pair[0]] as const) : pair;
    const decision: Decision = Object.freeze({
      x,
      pair: shown,
      propensity,
      values: choice.values,
    });
    this.#charge(decision, query.costs);
    this.#remember(decision);
    return decision;
  }

  vote(decision: Decision, outcome: Outcome, random: Random, voter?: string): void {
    const { x, pair, values } = decision;
    let weight = 1;
    if (voter !== undefined && this.settings.weighVoters && values) {
      weight = this.voters.weight(voter);
      const gap = values[pair[0]]! - values[pair[1]]!;
      const win = winOf(outcome);
      if (gap !== 0) this.voters.record(voter, gap > 0 ? win : 1 - win);
    }
    this.dismiss(decision);
    this.policy.learn({ kind: "duel", x, pair, outcome, weight }, random);
  }

  /** A like (up to 1) or dislike (down to -1) of one of the answers. */
  rate(decision: Decision, model: number, rating: number, random: Random): void {
    this.dismiss(decision);
    this.policy.learn({ kind: "rating", x: decision.x, model, rating }, random);
  }

  /** Several answers in order, the best first; models asked besides the pair count too. */
  rank(decision: Decision, order: readonly number[], random: Random): void {
    this.dismiss(decision);
    this.policy.learn({ kind: "ranking", x: decision.x, order }, random);
  }

  /** No vote on this one is to be waited for. */
  dismiss(decision: Decision): void {
    this.#pending.delete(decision);
  }

  /** lambda * cost + kappa * latency, cost in units of the dearest model's mean. */
  #penalty({ costs, lambda = 0, latencies, kappa = 0 }: RouteQuery): Float64Array | undefined {
    const price = lambda + (this.pacer?.lambda ?? 0);
    const priced = costs && price > 0;
    const timed = latencies && kappa > 0;
    if (!priced && !timed) return undefined;
    const size = (costs ?? latencies)!.length;
    return Float64Array.from({ length: size }, (_, k) => {
      const cost = priced ? (price * costs[k]!) / this.settings.costUnit : 0;
      return cost + (timed ? kappa * latencies[k]! : 0);
    });
  }

  /**
   * With a small probability any pair. The pair rule is deterministic, so this
   * is what gives every pair a chance and the log a propensity to divide by.
   */
  #explore(
    chosen: readonly [number, number],
    candidates: readonly number[],
    random: Random,
  ): { pair: readonly [number, number]; propensity: number } {
    const { explore } = this.settings;
    const n = candidates.length;
    const any = () => candidates[random.integer(n)]!;
    const explored = explore > 0 && random.uniform() < explore;
    const pair = explored ? ([any(), any()] as const) : chosen;
    const [a, b] = pair;
    const same = (a === chosen[0] && b === chosen[1]) || (a === chosen[1] && b === chosen[0]);
    const uniform = (a === b ? 1 : 2) / n ** 2;
    return { pair, propensity: explore * uniform + (same ? 1 - explore : 0) };
  }

  #charge({ pair: [a, b] }: Decision, costs: Float64Array | undefined): void {
    if (!costs || !this.pacer) return;
    this.pacer.spend((costs[a]! + (a === b ? 0 : costs[b]!)) / this.settings.costUnit);
  }

  #remember(decision: Decision): void {
    this.#rounds++;
    if (this.settings.pending === 0 || decision.pair[0] === decision.pair[1]) return;
    const { x, pair } = decision;
    this.#pending.set(decision, { x, pair, since: this.#rounds });
  }

  /** The newest duels still awaited. Most votes never come, so they are given up with age. */
  #awaited(): PendingDuel[] {
    const { pending, pendingRounds } = this.settings;
    for (const [decision, { since }] of this.#pending) {
      const old = this.#rounds - since >= pendingRounds;
      if (!old && this.#pending.size <= pending) break;
      this.#pending.delete(decision);
    }
    return [...this.#pending.values()];
  }
}

/** A policy may be anybody's, and a model that is not there would pass for regret NaN. */
function checkPair(pair: readonly number[] | undefined, candidates: readonly number[]): void {
  if (pair?.length === 2 && pair.every((k) => candidates.includes(k))) return;
  throw new RangeError(
    `the policy chose the pair ${JSON.stringify(pair)}; help: choose returns {pair: [a, b]}, ` +
      `a and b among the candidates ${candidates.join(", ")}`,
  );
}

export type RouterSettings = {
  /** Probability of a uniform pair. */
  readonly explore: number;
  /** Mean cost a query to keep to, in the unit of the costs given; 0: no budget. */
  readonly budget: number;
  /** The dearest model's mean cost: what lambda is the price of. */
  readonly costUnit: number;
  /** How many duels without a vote yet are taken into account; 0: none (docs/beyond.md). */
  readonly pending: number;
  /** After how many rounds a vote is no longer expected. */
  readonly pendingRounds: number;
  /** Whether a voter's record decides how much a vote counts. */
  readonly weighVoters: boolean;
};

export const ROUTER_DEFAULTS: RouterSettings = {
  explore: 0,
  budget: 0,
  costUnit: 1,
  pending: 0,
  pendingRounds: 500,
  weighVoters: false,
};

export const ROUTER_ABOUT: About<RouterSettings> = {
  explore: { meaning: "probability of a uniform pair", min: 0, max: 1 },
  budget: { meaning: "mean cost a query to keep to, in the data's unit; 0: no budget", min: 0 },
  costUnit: {
    meaning:
      "the dearest model's mean cost: what lambda is the price of; simulate finds it in the data",
    above: 0,
  },
  pending: {
    meaning: "how many duels without a vote yet are taken into account; 0: none",
    integer: true,
    min: 0,
  },
  pendingRounds: {
    meaning: "after how many rounds a vote is no longer expected",
    integer: true,
    min: 1,
  },
  weighVoters: { meaning: "whether a voter's record decides how much a vote counts" },
};

export interface RouteQuery {
  readonly x: Float64Array;
  /** The models that can serve the request. */
  readonly candidates: readonly number[];
  /** What each model would cost here, and the utility that `costUnit` is worth. */
  readonly costs?: Float64Array | undefined;
  readonly lambda?: number | undefined;
  /** Seconds that each model would take, and the utility that a second is worth. */
  readonly latencies?: Float64Array | undefined;
  readonly kappa?: number | undefined;
}

/** What was chosen. `pair` is in the order shown; both the same means a single answer. */
export interface Decision {
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
  /** Probability of this pair, in either order, given what the policy chose. */
  readonly propensity: number;
  readonly values: Float64Array | undefined;
}
