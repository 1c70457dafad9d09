import { createPolicy } from "../../core/bandit/options.ts";
import { highestMeanCost } from "../../core/bandit/pacer.ts";
import type { Contender } from "../../core/policy-spec/policy-spec.ts";
import type { Random } from "../../core/random/random.ts";
import { type RoutedChoice, Router } from "../../core/router.ts";
import { percentile } from "../../core/statistics.ts";
import type { Arrival, Environment } from "./environment.ts";
import type { Settings } from "./settings.ts";
import { castVote } from "./voter.ts";

/** The measurements of one run of one policy. */
export interface Run {
  /** Cumulative regret at the rounds of `curveRounds`. */
  readonly curve: number[];
  /** Cumulative regret of the scores alone, without lambda, at the last round. */
  readonly regretPerf: number;
  readonly scorePerQuery: number;
  readonly costPerQuery: number | null;
  readonly agreement: number;
  readonly decisionMicros: { readonly p50: number; readonly p99: number };
  readonly updateMicros: { readonly p50: number; readonly p99: number };
}

/**
 * Runs T rounds of the online path: query, decision, vote, update. The router receives costs
 * for its budget, if it has one; lambda is part of the utilities. `onRound` is called after
 * each round with the number of rounds so far.
 */
export function runPolicy(
  environment: Environment,
  { kind, options, router: routerSettings = {} }: Contender,
  settings: Settings,
  random: Random,
  onRound?: (t: number, arrival: Arrival, pair: readonly [number, number]) => void,
): Run {
  const { pool, hindsight } = environment;
  const policy = createPolicy(kind, pool, options, hindsight);
  const router = new Router(policy, { costUnit: highestMeanCost(pool.costs), ...routerSettings });
  const candidates = pool.models.map((_, k) => k);
  const pending = new PendingVotes(settings.delay);
  const points = curveRounds(settings.rounds);
  const curve: number[] = [];
  const decisions = new Float64Array(settings.rounds);
  const updates: number[] = [];
  let regret = 0;
  let regretPerf = 0;
  let score = 0;
  let cost = 0;
  let agreed = 0;
  for (let t = 0; t < settings.rounds; t++) {
    const round = random.split(t);
    const arrival = environment.at(t);
    const { x, scores, utilities, costs, best, bestScore } = arrival;
    const start = performance.now();
    const decision = router.route({ x, candidates, costs }, round.split("route"));
    decisions[t] = performance.now() - start;
    const [a, b] = decision.pair;
    regret += best - (utilities[a]! + utilities[b]!) / 2;
    regretPerf += bestScore - (scores[a]! + scores[b]!) / 2;
    score += (scores[a]! + scores[b]!) / 2;
    agreed += (Number(utilities[a] === best) + Number(utilities[b] === best)) / 2;
    if (costs) cost += costs[a]! + (a === b ? 0 : costs[b]!);
    if (a !== b) pending.add({ arrival, decision, round }, t);
    for (const { arrival, decision, round } of pending.due(t)) {
      const { outcome, voter } = castVote(arrival, decision.pair, settings, round.split("vote"));
      const begin = performance.now();
      router.vote(decision, outcome, round.split("learn"), voter);
      updates.push(performance.now() - begin);
    }
    if (t + 1 === points[curve.length]) curve.push(regret);
    onRound?.(t + 1, arrival, decision.pair);
  }
  const { rounds } = settings;
  const hasCosts = environment.at(0).costs !== undefined;
  return {
    curve,
    regretPerf,
    scorePerQuery: score / rounds,
    costPerQuery: hasCosts ? cost / rounds : null,
    agreement: agreed / rounds,
    decisionMicros: micros(decisions),
    updateMicros: micros(updates),
  };
}

/** The rounds at which curves are recorded: at most a hundred, with the last one. */
export function curveRounds(rounds: number): number[] {
  const count = Math.min(rounds, 100);
  return Array.from({ length: count }, (_, i) => Math.round(((i + 1) * rounds) / count));
}

interface PendingVote {
  readonly arrival: Arrival;
  readonly decision: RoutedChoice;
  readonly round: Random;
}

/** Votes that have not arrived: each arrives `delay` rounds after its duel. */
class PendingVotes {
  readonly #delay: number;
  readonly #votes: { readonly vote: PendingVote; readonly at: number }[] = [];

  constructor(delay: number) {
    this.#delay = delay;
  }

  add(vote: PendingVote, now: number): void {
    this.#votes.push({ vote, at: now + this.#delay });
  }

  due(now: number): PendingVote[] {
    let count = 0;
    while (count < this.#votes.length && this.#votes[count]!.at <= now) count++;
    return this.#votes.splice(0, count).map(({ vote }) => vote);
  }
}

function micros(milliseconds: ArrayLike<number>): { p50: number; p99: number } {
  const at = (p: number) => (milliseconds.length > 0 ? 1000 * percentile(milliseconds, p) : 0);
  return { p50: at(50), p99: at(99) };
}
