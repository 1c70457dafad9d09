import { checkOptions } from "./bandit/options.ts";
import { Pacer, type PacerState } from "./bandit/pacer.ts";
import type {
  About,
  Choice,
  Outcome,
  PendingDuel,
  Policy,
  Round,
  Snapshot,
} from "./bandit/policy.ts";
import { alignModels, winOf } from "./bandit/policy.ts";
import { Voters, type VotersState } from "./bandit/voters.ts";
import { invalidValue } from "./errors/joust-error.ts";
import type { Random } from "./random/random.ts";

/**
 * The online path: a query becomes a decision, a vote becomes knowledge. No
 * clock, no store and no network here, so that the simulator measures the very
 * code that a gateway serves.
 */
export class Router {
  readonly policy: Policy;
  readonly settings: RouterSettings;
  #voters = new Voters();
  #pacer: Pacer | undefined;
  /** By the decision's id, or by the decision itself where it has none. */
  readonly #pending = new Map<string | object, PendingDuel & { readonly since: number }>();
  #rounds = 0;

  constructor(policy: Policy, settings: Partial<RouterSettings> = {}) {
    this.policy = policy;
    this.settings = { ...ROUTER_DEFAULTS, ...settings };
    checkOptions("the router", this.settings, ROUTER_ABOUT);
    this.#pacer = this.#newPacer();
  }

  get voters(): Voters {
    return this.#voters;
  }

  route(query: RouteQuery, random: Random): RoutedChoice {
    const { x, candidates } = query;
    const lambda = (query.lambda ?? 0) + (this.#pacer?.lambda ?? 0);
    const penalty = this.#penalty(query, lambda);
    const pending = this.settings.pending > 0 ? this.#awaited() : undefined;
    const round = { x, candidates, penalty, pending, answers: query.answers };
    const choice = this.policy.choose(round, random.split("choose"));
    checkPair(choice.pair, candidates);
    const chosen = this.#answers(choice, round, query.answers, random);
    const { pair, propensity } = this.#explore(chosen, query, random.split("explore"));
    // The order in which two answers are shown is fair, so that position bias can be told apart.
    const flip = pair[0] !== pair[1] && random.split("order").uniform() < 0.5;
    const shown = flip ? ([pair[1], pair[0]] as const) : pair;
    const decision: RoutedChoice = Object.freeze({
      id: query.id,
      x,
      pair: shown,
      propensity,
      values: choice.values,
      estimate: choice.estimate,
      lambda,
    });
    this.#charge(decision, query.costs);
    this.#remember(decision);
    return decision;
  }

  /** `weight` is the vote's own (a judge's is below 1); the voter's record comes on top. */
  vote(decision: VoteTarget, outcome: Outcome, random: Random, voter?: string, weight = 1): void {
    const { x, pair, values } = decision;
    const trust = this.#trust(voter);
    if (voter !== undefined && this.settings.weighVoters && values) {
      const gap = values[pair[0]]! - values[pair[1]]!;
      const win = winOf(outcome);
      if (gap !== 0) this.#voters.record(voter, gap > 0 ? win : 1 - win);
    }
    this.dismiss(decision);
    this.policy.learn({ kind: "duel", x, pair, outcome, weight: weight * trust }, random);
  }

  /** A like (up to 1) or dislike (down to -1) of one of the answers. */
  rate(
    decision: VoteTarget,
    model: number,
    rating: number,
    random: Random,
    voter?: string,
    weight = 1,
  ): void {
    const { x } = decision;
    this.dismiss(decision);
    const trusted = weight * this.#trust(voter);
    this.policy.learn({ kind: "rating", x, model, rating, weight: trusted }, random);
  }

  /** Several answers in order, the best first; models asked besides the pair count too. */
  rank(
    decision: VoteTarget,
    order: readonly number[],
    random: Random,
    voter?: string,
    weight = 1,
  ): void {
    const { x } = decision;
    this.dismiss(decision);
    const trusted = weight * this.#trust(voter);
    this.policy.learn({ kind: "ranking", x, order, weight: trusted }, random);
  }

  /** No vote on this one is to be waited for. */
  dismiss(decision: Pick<VoteTarget, "id">): void {
    this.#pending.delete(decision.id ?? decision);
  }

  /** What votes have taught, and where serving stands: a router restored from it goes on bit for bit. */
  snapshot(): RouterSnapshot {
    return {
      policy: this.policy.snapshot(),
      voters: this.#voters.snapshot(),
      serving: {
        pacer: this.#pacer?.snapshot(),
        rounds: this.#rounds,
        pending: [...this.#pending].flatMap(([id, duel]) =>
          typeof id === "string" ? [{ id, ...duel }] : [],
        ),
      },
    };
  }

  /** Without `serving`, as a learner's snapshot is, this router's own budget and pending duels stay. */
  restore({ policy, voters, serving }: RouterSnapshot): void {
    this.policy.restore(policy);
    this.#voters = new Voters(voters);
    if (!serving) return;
    this.#rounds = serving.rounds;
    this.#pacer = this.#newPacer(serving.pacer);
    this.#pending.clear();
    const place = alignModels(this.policy.snapshot().models, policy.models);
    for (const { id, x, pair, since } of serving.pending) {
      const [a, b] = [place[pair[0]]!, place[pair[1]]!];
      if (a >= 0 && b >= 0) this.#pending.set(id, { x, pair: [a, b], since });
    }
  }

  #newPacer(state?: PacerState): Pacer | undefined {
    const { budget, costUnit } = this.settings;
    return budget > 0 ? new Pacer(budget / costUnit, state) : undefined;
  }

  #trust(voter: string | undefined): number {
    return voter !== undefined && this.settings.weighVoters ? this.#voters.weight(voter) : 1;
  }

  /** lambda * cost + kappa * latency, cost in units of the dearest model's mean. */
  #penalty(query: RouteQuery, price: number): Float64Array | undefined {
    const { costs, latencies, kappa = 0 } = query;
    const priced = costs && price > 0;
    const timed = latencies && kappa > 0;
    if (!priced && !timed) return undefined;
    const penalty = new Float64Array((costs ?? latencies)!.length);
    for (let k = 0; k < penalty.length; k++) {
      const cost = priced ? (price * costs[k]!) / this.settings.costUnit : 0;
      penalty[k] = cost + (timed ? kappa * latencies[k]! : 0);
    }
    return penalty;
  }

  /** What was chosen, as one answer or two different ones where that is asked for. */
  #answers(
    choice: Choice,
    round: Round,
    answers: RouteQuery["answers"],
    random: Random,
  ): readonly [number, number] {
    const [a, b] = choice.pair;
    if (answers === 1) return alone(choice, round.candidates, round.penalty);
    if (answers !== 2 || a !== b) return choice.pair;
    const others = round.candidates.filter((k) => k !== a);
    if (others.length === 0) return choice.pair;
    // The policy has nothing to learn here, so the best of the others may show what it can.
    const second = this.policy.choose({ ...round, candidates: others }, random.split("second"));
    checkPair(second.pair, others);
    return [a, alone(second, others, round.penalty)[0]];
  }

  /**
   * With a small probability any pair. The pair rule is deterministic, so this
   * is what gives every pair a chance and the log a propensity to divide by.
   */
  #explore(
    chosen: readonly [number, number],
    { candidates, answers }: RouteQuery,
    random: Random,
  ): { pair: readonly [number, number]; propensity: number } {
    const { explore } = this.settings;
    const n = candidates.length;
    const apart = answers === 2 && n > 1;
    const anyPair = () => {
      const first = random.integer(n);
      if (answers === 1) return [candidates[first]!, candidates[first]!] as const;
      const second = apart ? (first + 1 + random.integer(n - 1)) % n : random.integer(n);
      return [candidates[first]!, candidates[second]!] as const;
    };
    const explored = explore > 0 && random.uniform() < explore;
    const pair = explored ? anyPair() : chosen;
    const [a, b] = pair;
    const same = (a === chosen[0] && b === chosen[1]) || (a === chosen[1] && b === chosen[0]);
    const pairs = apart ? n * (n - 1) : n ** 2;
    const uniform = answers === 1 ? 1 / n : (a === b ? 1 : 2) / pairs;
    return { pair, propensity: explore * uniform + (same ? 1 - explore : 0) };
  }

  #charge({ pair: [a, b] }: RoutedChoice, costs: Float64Array | undefined): void {
    if (!costs || !this.#pacer) return;
    this.#pacer.spend((costs[a]! + (a === b ? 0 : costs[b]!)) / this.settings.costUnit);
  }

  #remember(decision: RoutedChoice): void {
    this.#rounds++;
    if (this.settings.pending === 0 || decision.pair[0] === decision.pair[1]) return;
    const { id, x, pair } = decision;
    this.#pending.set(id ?? decision, { x, pair, since: this.#rounds });
  }

  /** The newest duels still awaited. Most votes never come, so they are given up with age. */
  #awaited(): PendingDuel[] {
    const { pending, pendingRounds } = this.settings;
    for (const [key, { since }] of this.#pending) {
      const old = this.#rounds - since >= pendingRounds;
      if (!old && this.#pending.size <= pending) break;
      this.#pending.delete(key);
    }
    return [...this.#pending.values()];
  }
}

/** One answer teaches nothing by itself, so it is the best one there is: by value where the policy has values. */
function alone(
  { pair, values }: Choice,
  candidates: readonly number[],
  penalty: Float64Array | undefined,
): readonly [number, number] {
  if (!values) return [pair[0], pair[0]];
  const worth = (k: number) => values[k]! - (penalty?.[k] ?? 0);
  // The policy's own choice first: it wins ties.
  const best = [...pair, ...candidates].reduce((a, b) => (worth(b) > worth(a) ? b : a));
  return [best, best];
}

/** A policy may be anybody's, and a model that is not there would pass for regret NaN. */
function checkPair(pair: readonly number[] | undefined, candidates: readonly number[]): void {
  if (pair?.length === 2 && pair.every((k) => candidates.includes(k))) return;
  throw invalidValue(
    `the policy chose the pair ${JSON.stringify(pair)}`,
    `choose returns {pair: [a, b]}, a and b among the candidates ${candidates.join(", ")}`,
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
      "the dearest model's mean cost, in which the router counts; simulate finds it in the data (its own --lambda counts in the data's unit)",
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
  /** Names the decision where votes come from elsewhere. */
  readonly id?: string | undefined;
  readonly x: Float64Array;
  /** The models that can serve the request. */
  readonly candidates: readonly number[];
  /** What each model would cost here, and the utility that `costUnit` is worth. */
  readonly costs?: Float64Array | undefined;
  readonly lambda?: number | undefined;
  /** Seconds that each model would take, and the utility that a second is worth. */
  readonly latencies?: Float64Array | undefined;
  readonly kappa?: number | undefined;
  /** 1: one answer and no duel; 2: two different ones, if there are; else as the policy has it. */
  readonly answers?: 1 | 2 | undefined;
}

/** What was chosen. `pair` is in the order shown; both the same means a single answer. */
export interface RoutedChoice {
  readonly id?: string | undefined;
  readonly x: Float64Array;
  readonly pair: readonly [number, number];
  /** Probability of this pair, in either order, given what the policy chose. */
  readonly propensity: number;
  readonly values: Float64Array | undefined;
  readonly estimate?: Choice["estimate"];
  /** The price of a unit of cost at which it was chosen: the query's and the budget's. */
  readonly lambda: number;
}

/** As much of a decision as a vote on it needs; a log holds it. */
export type VoteTarget = Pick<RoutedChoice, "id" | "x" | "pair" | "values">;

export interface RouterSnapshot {
  readonly policy: Snapshot;
  readonly voters: VotersState;
  readonly serving?: Serving | undefined;
}

/** What one node knows by having served. Pending duels without an id are not in it. */
interface Serving {
  readonly pacer: PacerState | undefined;
  readonly rounds: number;
  readonly pending: readonly (PendingDuel & { readonly id: string; readonly since: number })[];
}
