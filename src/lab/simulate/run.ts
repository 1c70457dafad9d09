import { createPolicy } from "../../core/bandit/options.ts";
import { highestMeanCost } from "../../core/bandit/pacer.ts";
import type { Random } from "../../core/random/random.ts";
import { type RoutedChoice, Router } from "../../core/router.ts";
import type { Contender } from "../policies/policy-spec.ts";
import { percentile } from "../statistics.ts";
import type { Arrival, Environment } from "./environment.ts";
import type { Settings } from "./settings.ts";
import { castVote } from "./voter.ts";

/** What one run of one policy measured. */
export interface Run {
  /** Cumulative regret at the rounds of `curveRounds`. */
  readonly curve: number[];
  /** Of the scores alone, whatever lambda, at the last round. */
  readonly regretPerf: number;
  readonly scorePerQuery: number;
  readonly costPerQuery: number | null;
  readonly agreement: number;
  readonly decisionMicros: { readonly p50: number; readonly p99: number };
  readonly updateMicros: { readonly p50: number; readonly p99: number };
}

/**
 * T rounds of the online path: query, decision, vote, learning. Costs are given
 * for the router's budget, if it has one; lambda is in the utilities already.
 * `onRound` is told what each round brought, after `t` of them.
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
  const mail = new Mail(settings.delay);
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
    if (a !== b) mail.send({ arrival, decision, round }, t);
    for (const { arrival, decision, round } of mail.due(t)) {
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

/** The rounds at which curves are kept: about a hundred, the last among them. */
export function curveRounds(rounds: number): number[] {
  const count = Math.min(rounds, 100);
  return Array.from({ length: count }, (_, i) => Math.round(((i + 1) * rounds) / count));
}

interface Letter {
  readonly arrival: Arrival;
  readonly decision: RoutedChoice;
  readonly round: Random;
}

/** Votes under way: each arrives `delay` rounds after its duel. */
class Mail {
  readonly #delay: number;
  readonly #letters: { readonly letter: Letter; readonly at: number }[] = [];

  constructor(delay: number) {
    this.#delay = delay;
  }

  send(letter: Letter, now: number): void {
    this.#letters.push({ letter, at: now + this.#delay });
  }

  due(now: number): Letter[] {
    let count = 0;
    while (count < this.#letters.length && this.#letters[count]!.at <= now) count++;
    return this.#letters.splice(0, count).map(({ letter }) => letter);
  }
}

function micros(milliseconds: ArrayLike<number>): { p50: number; p99: number } {
  const at = (p: number) => (milliseconds.length > 0 ? 1000 * percentile(milliseconds, p) : 0);
  return { p50: at(50), p99: at(99) };
}
