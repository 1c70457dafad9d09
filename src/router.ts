import { Pacer } from "./bandit/pacer.ts";
import type { Outcome, PendingDuel, Policy } from "./bandit/policy.ts";
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
  readonly #pending = new Map<Decision, PendingDuel>();

  constructor(policy: Policy, settings: Partial<RouterSettings> = {}) {
    this.policy = policy;
    this.settings = { ...ROUTER_DEFAULTS, ...settings };
    this.pacer = this.settings.budget > 0 ? new Pacer(this.settings.budget) : undefined;
  }

  route(query: RouteQuery, random: Random): Decision {
    const { x, candidates, costs } = query;
    const lambda = (query.lambda ?? 0) + (this.pacer?.lambda ?? 0);
    const penalty = costs && lambda > 0 ? costs.map((cost) => lambda * cost) : undefined;
    const pending = this.settings.pending > 0 ? [...this.#pending.values()] : undefined;
    const choice = this.policy.choose({ x, candidates, penalty, pending }, random.split("choose"));
    const pair = this.#explore(choice.pair, candidates, random.split("explore"));
    // The order in which two answers are shown is fair, so that position bias can be told apart.
    const flip = random.split("order").uniform() < 0.5;
    const shown = flip ? ([pair[1], pair[0]] as const) : pair;
    const decision: Decision = Object.freeze({ x, pair: shown, values: choice.values });
    this.#charge(decision, costs);
    this.#remember(decision);
    return decision;
  }

  vote(decision: Decision, outcome: Outcome, random: Random, voter?: string): void {
    this.#pending.delete(decision);
    const { x, pair, values } = decision;
    let weight = 1;
    if (voter !== undefined && this.settings.weighVoters && values) {
      weight = this.voters.weight(voter);
      const gap = values[pair[0]]! - values[pair[1]]!;
      const win = winOf(outcome);
      if (gap !== 0) this.voters.record(voter, gap > 0 ? win : 1 - win);
    }
    this.policy.learn({ kind: "duel", x, pair, outcome, weight }, random);
  }

  /** With a small probability any pair, so that what is logged can be evaluated off-policy. */
  #explore(
    pair: readonly [number, number],
    candidates: readonly number[],
    random: Random,
  ): readonly [number, number] {
    const { explore } = this.settings;
    if (explore === 0 || random.uniform() >= explore) return pair;
    const any = () => candidates[random.integer(candidates.length)]!;
    return [any(), any()];
  }

  #charge({ pair: [a, b] }: Decision, costs: Float64Array | undefined): void {
    if (costs) this.pacer?.spend(costs[a]! + (a === b ? 0 : costs[b]!));
  }

  /** Duels wait for their vote; the oldest are given up when there are too many. */
  #remember(decision: Decision): void {
    const { pending } = this.settings;
    if (pending === 0 || decision.pair[0] === decision.pair[1]) return;
    this.#pending.set(decision, { x: decision.x, pair: decision.pair });
    if (this.#pending.size <= pending) return;
    const [oldest] = this.#pending.keys();
    if (oldest) this.#pending.delete(oldest);
  }
}

export interface RouterSettings {
  /** Probability of a uniform pair. */
  readonly explore: number;
  /** Mean cost a query to keep to, in the unit of the costs given; 0: no budget. */
  readonly budget: number;
  /** How many duels without a vote yet are taken into account; 0: none. */
  readonly pending: number;
  /** Whether a voter's record decides how much a vote counts. */
  readonly weighVoters: boolean;
}

export const ROUTER_DEFAULTS: RouterSettings = {
  explore: 0,
  budget: 0,
  pending: 64,
  weighVoters: false,
};

export interface RouteQuery {
  readonly x: Float64Array;
  /** The models that can serve the request. */
  readonly candidates: readonly number[];
  /** What each model would cost here, and how much utility a unit of it is worth. */
  readonly costs?: Float64Array | undefined;
  readonly lambda?: number | undefined;
}

/** What was chosen. `pair` is in the order shown; both the same means a single answer. */
export interface Decision {
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
  readonly values: Float64Array | undefined;
}
