import { checkOptions } from "./bandit/options.ts";
import { Pacer, type PacerState } from "./bandit/pacer.ts";
import type {
  About,
  Choice,
  Feedback,
  Origin,
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
 * Routes queries with a policy and teaches it by votes. The router adds what every
 * policy needs: the price of cost and latency, a budget, exploration with known
 * propensities, the order of the answers, and the weights of voters. It has no clock,
 * store or network, so that simulations run the same code as the gateway.
 */
export class Router {
  readonly policy: Policy;
  readonly settings: RouterSettings;
  #voters = new Voters();
  #pacer: Pacer | undefined;
  /** Duels without a vote, by the id of the decision, or by the decision itself if it has no id. */
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

  /** Chooses the models that answer a query. */
  route(query: RouteQuery, random: Random): RoutedChoice {
    const { x, candidates } = query;
    const lambda = (query.lambda ?? 0) + (this.#pacer?.lambda ?? 0);
    const penalty = this.#penalty(query, lambda);
    const pending = this.settings.pending > 0 ? this.#pendingDuels() : undefined;
    const round = { x, candidates, penalty, pending, answers: query.answers };
    const choice = this.policy.choose(round, random.split("choose"));
    checkPair(choice.pair, candidates);
    const chosen = this.#pairFor(choice, round, query.answers, random);
    const { pair, propensity } = this.#explore(chosen, query, random.split("explore"));
    // Answers are shown in random order, so that position bias can be estimated.
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
    if (query.isCharged !== false) this.charge(shown, query.costs);
    this.#remember(decision);
    return decision;
  }

  /**
   * Charges the budget with the expected cost of a pair. `route` does this itself unless its query has
   * `isCharged: false`.
   */
  charge([a, b]: readonly [number, number], costs: Float64Array | undefined): void {
    if (!costs || !this.#pacer) return;
    this.#pacer.spend((costs[a]! + (a === b ? 0 : costs[b]!)) / this.settings.costUnit);
  }

  /**
   * Learns from a vote on a duel. `weight` is multiplied by the weight of the voter, if voters are
   * weighed. `origin` describes a voter that is not a person. Nothing is learned from a vote of weight 0.
   */
  vote(
    decision: VoteTarget,
    outcome: Outcome,
    random: Random,
    voter?: string,
    weight = 1,
    origin?: Origin,
  ): void {
    this.dismiss(decision);
    if (weight === 0) return;
    const { x, pair, values } = decision;
    const trust = this.#trust(voter, origin);
    if (voter !== undefined && !origin && this.settings.weighVoters && values) {
      const gap = values[pair[0]]! - values[pair[1]]!;
      const win = winOf(outcome);
      if (gap !== 0) this.#voters.record(voter, gap > 0 ? win : 1 - win);
    }
    this.#learn({ kind: "duel", x, pair, outcome, weight: weight * trust, origin }, random);
  }

  /** Learns from a rating of one answer, from -1 (dislike) to 1 (like). */
  rate(
    decision: VoteTarget,
    model: number,
    rating: number,
    random: Random,
    voter?: string,
    weight = 1,
    origin?: Origin,
  ): void {
    this.dismiss(decision);
    const { x } = decision;
    const trusted = weight * this.#trust(voter, origin);
    this.#learn({ kind: "rating", x, model, rating, weight: trusted, origin }, random);
  }

  /** Learns from a ranking, best first. It may include models that are not in the pair. */
  rank(
    decision: VoteTarget,
    order: readonly number[],
    random: Random,
    voter?: string,
    weight = 1,
  ): void {
    this.dismiss(decision);
    const trusted = weight * this.#trust(voter);
    this.#learn({ kind: "ranking", x: decision.x, order, weight: trusted }, random);
  }

  #learn(feedback: Feedback, random: Random): void {
    if (feedback.weight !== 0) this.policy.learn(feedback, random);
  }

  /** Stops waiting for a vote on this decision. */
  dismiss(decision: Pick<VoteTarget, "id">): void {
    this.#pending.delete(decision.id ?? decision);
  }

  /** Returns the complete state. A router that is restored from it continues with the same numbers, bit for bit. */
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

  /**
   * Restores a snapshot. Snapshots of the learner have no `serving` part; the router then
   * keeps its own budget and pending duels.
   */
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

  /** The weight of a voter. Policies learn themselves how far to trust voters that are not people. */
  #trust(voter: string | undefined, origin?: Origin): number {
    if (voter === undefined || origin || !this.settings.weighVoters) return 1;
    return this.#voters.weight(voter);
  }

  /** Computes lambda * cost + kappa * latency per model, with costs in units of `costUnit`. */
  #penalty(query: RouteQuery, lambda: number): Float64Array | undefined {
    const { costs, latencies, kappa = 0 } = query;
    const hasCosts = costs && lambda > 0;
    const hasLatencies = latencies && kappa > 0;
    if (!hasCosts && !hasLatencies) return undefined;
    const penalty = new Float64Array((costs ?? latencies)!.length);
    for (let k = 0; k < penalty.length; k++) {
      const cost = hasCosts ? (lambda * costs[k]!) / this.settings.costUnit : 0;
      penalty[k] = cost + (hasLatencies ? kappa * latencies[k]! : 0);
    }
    return penalty;
  }

  /** Turns the choice of the policy into one answer, or two different ones, if the query requires that. */
  #pairFor(
    choice: Choice,
    round: Round,
    answers: RouteQuery["answers"],
    random: Random,
  ): readonly [number, number] {
    const [a, b] = choice.pair;
    if (answers === 1) return bestAlone(choice, round.candidates, round.penalty);
    if (answers !== 2 || a !== b) return choice.pair;
    const others = round.candidates.filter((k) => k !== a);
    if (others.length === 0) return choice.pair;
    // The policy expects no gain from a duel here, so the second answer is the best of the others.
    const second = this.policy.choose({ ...round, candidates: others }, random.split("second"));
    checkPair(second.pair, others);
    return [a, bestAlone(second, others, round.penalty)[0]];
  }

  /**
   * With probability `explore`, replaces the pair by a uniformly random one. The choice
   * of the policy may be deterministic, so this gives every pair a positive probability,
   * and every decision a propensity for off-policy estimates.
   */
  #explore(
    chosen: readonly [number, number],
    { candidates, answers }: RouteQuery,
    random: Random,
  ): { pair: readonly [number, number]; propensity: number } {
    const { explore } = this.settings;
    const n = candidates.length;
    const mustDiffer = answers === 2 && n > 1;
    const randomPair = () => {
      const first = random.integer(n);
      if (answers === 1) return [candidates[first]!, candidates[first]!] as const;
      const second = mustDiffer ? (first + 1 + random.integer(n - 1)) % n : random.integer(n);
      return [candidates[first]!, candidates[second]!] as const;
    };
    const explored = explore > 0 && random.uniform() < explore;
    const pair = explored ? randomPair() : chosen;
    const [a, b] = pair;
    const same = (a === chosen[0] && b === chosen[1]) || (a === chosen[1] && b === chosen[0]);
    const pairs = mustDiffer ? n * (n - 1) : n ** 2;
    const uniform = answers === 1 ? 1 / n : (a === b ? 1 : 2) / pairs;
    return { pair, propensity: explore * uniform + (same ? 1 - explore : 0) };
  }

  /** Remembers a duel until its vote arrives. */
  #remember(decision: RoutedChoice): void {
    this.#rounds++;
    if (this.settings.pending === 0 || decision.pair[0] === decision.pair[1]) return;
    const { id, x, pair } = decision;
    this.#pending.set(id ?? decision, { x, pair, since: this.#rounds });
  }

  /** Returns the newest pending duels and drops the old ones, because most votes never arrive. */
  #pendingDuels(): PendingDuel[] {
    const { pending, pendingRounds } = this.settings;
    for (const [key, { since }] of this.#pending) {
      const old = this.#rounds - since >= pendingRounds;
      if (!old && this.#pending.size <= pending) break;
      this.#pending.delete(key);
    }
    return [...this.#pending.values()];
  }
}

/** Returns the best single answer: by value, if the policy has values, else the first of its pair. */
function bestAlone(
  { pair, values }: Choice,
  candidates: readonly number[],
  penalty: Float64Array | undefined,
): readonly [number, number] {
  if (!values) return [pair[0], pair[0]];
  const worth = (k: number) => values[k]! - (penalty?.[k] ?? 0);
  // The models of the pair come first, because they win ties.
  const best = [...pair, ...candidates].reduce((a, b) => (worth(b) > worth(a) ? b : a));
  return [best, best];
}

/** Throws if a policy, which may be a user's own, chose something other than two candidates. */
function checkPair(pair: readonly number[] | undefined, candidates: readonly number[]): void {
  if (pair?.length === 2 && pair.every((k) => candidates.includes(k))) return;
  throw invalidValue(
    `the policy chose the pair ${JSON.stringify(pair)}`,
    `choose returns {pair: [a, b]}, with a and b among the candidates ${candidates.join(", ")}`,
  );
}

export const ROUTER_DEFAULTS = {
  /** Probability of a uniformly random pair. */
  explore: 0,
  /** Largest mean cost per query, in the unit of the given costs; 0 for no budget. */
  budget: 0,
  /**
   * Cost that counts as 1, so that lambda is the utility that it is worth: the mean cost of the
   * most expensive model.
   */
  costUnit: 1,
  /** Number of pending duels that the policy takes into account; 0 for none (docs/beyond.md). */
  pending: 0,
  /** Number of rounds after which a vote is no longer expected. */
  pendingRounds: 500,
  /** Whether the weight of a vote depends on how often the voter agreed with the router. */
  weighVoters: false,
};
export type RouterSettings = Readonly<typeof ROUTER_DEFAULTS>;

export const ROUTER_ABOUT: About<RouterSettings> = {
  explore: { meaning: "probability of a uniformly random pair", min: 0, max: 1 },
  budget: {
    meaning: "largest mean cost per query, in the unit of the data; 0 for no budget",
    min: 0,
  },
  costUnit: {
    meaning:
      "cost that the router counts as 1: the mean cost of the most expensive model, which simulate computes from the data (its option --lambda is in the unit of the data)",
    above: 0,
  },
  pending: {
    meaning: "number of duels without a vote yet that choices take into account; 0 for none",
    integer: true,
    min: 0,
  },
  pendingRounds: {
    meaning: "number of rounds after which a vote is no longer expected",
    integer: true,
    min: 1,
  },
  weighVoters: {
    meaning: "whether voters who often disagree with the router count less",
  },
};

/** A query to route. Models are indices into the pool of the policy. */
export interface RouteQuery {
  /** Id of the decision, which snapshots need for pending duels. */
  readonly id?: string | undefined;
  /** Embedding of the query. */
  readonly x: Float64Array;
  /** The models that can serve the request. */
  readonly candidates: readonly number[];
  /** Expected cost of each model for this query. */
  readonly costs?: Float64Array | undefined;
  /** Utility that a cost of `costUnit` is worth. */
  readonly lambda?: number | undefined;
  /** Expected latency of each model in seconds. */
  readonly latencies?: Float64Array | undefined;
  /** Utility that a second is worth. */
  readonly kappa?: number | undefined;
  /** 1 for one answer, 2 for two different ones if there are two candidates. Default: the policy decides. */
  readonly answers?: 1 | 2 | undefined;
  /**
   * Whether `route` charges the budget with the chosen pair. Default: true. False is for callers that may serve
   * another pair or none; they call `charge` with the pair that they serve.
   */
  readonly isCharged?: boolean | undefined;
}

/** The result of routing a query, with models as indices into the pool. */
export interface RoutedChoice {
  readonly id?: string | undefined;
  readonly x: Float64Array;
  /** The models in the order in which their answers are shown. The same model twice means a single answer. */
  readonly pair: readonly [number, number];
  /** Probability of this pair, in either order, given the choice of the policy. */
  readonly propensity: number;
  /** Estimated utility of every model, if the policy has estimates. */
  readonly values: Float64Array | undefined;
  readonly estimate?: Choice["estimate"];
  /** Utility that a cost of `costUnit` was worth: lambda of the query plus that of the budget. */
  readonly lambda: number;
}

/** The part of a decision that a vote needs. */
export type VoteTarget = Pick<RoutedChoice, "id" | "x" | "pair" | "values">;

export interface RouterSnapshot {
  readonly policy: Snapshot;
  readonly voters: VotersState;
  readonly serving?: ServingState | undefined;
}

/** The state that serving changes. Pending duels without an id are left out. */
interface ServingState {
  readonly pacer: PacerState | undefined;
  readonly rounds: number;
  readonly pending: readonly (PendingDuel & { readonly id: string; readonly since: number })[];
}
