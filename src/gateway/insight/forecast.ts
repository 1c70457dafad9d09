import { davidson } from "../../core/bandit/btl.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import type { Outcome, PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { Router } from "../../core/router.ts";
import { costWeightOf } from "../routing/choose.ts";
import { type ForecastQuery, payoffOf, trafficGroups } from "./payoff.ts";

export interface ForecastInput {
  /** Makes a copy of the router with everything that it has learned. */
  readonly copy: () => Router;
  readonly traffic: readonly ForecastQuery[];
  readonly tradeoff: number;
  /** Number of votes after which a future counts as one in which routing does not pay. */
  readonly horizon: number;
  readonly futures: number;
  /** Called with the number of each future before it is simulated, to show progress. */
  readonly onFuture?: ((future: number) => void) | undefined;
}

/** Median and central 90% of the futures; null stands for more votes than the horizon. */
export interface Quantiles {
  readonly median: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** When routing will beat the best single model with a probability of 95%. */
export interface Forecast {
  /**
   * now: routing beats it already; later: in most futures it will; never: in most futures it will not within
   * the horizon.
   */
  readonly verdict: "now" | "later" | "never";
  /** Probability that routing beats the best single model with what is known now. */
  readonly sure: number;
  /** Share of the futures in which routing pays within the horizon. */
  readonly reached: number;
  /** Further votes, and US dollars for both answers of their duels. */
  readonly votes: Quantiles;
  readonly dollars: Quantiles | null;
  readonly horizon: number;
  readonly futures: number;
}

/**
 * Forecasts by posterior predictive simulation (docs/decisions/0037-forecast.md). In each future the
 * truth is a draw from the posterior. A copy of the router chooses duels on the traffic, voters vote by
 * that truth, and the copy learns, until its own posterior is 95% sure that routing pays. Returns
 * undefined if the policy cannot draw from its posterior, or if there is no traffic.
 */
export function forecast(input: ForecastInput, random: Random): Forecast | undefined {
  const { copy, traffic, tradeoff, horizon, futures, onFuture } = input;
  const present = copy();
  const report = reportOf(present.policy);
  if (!report || !present.policy.estimate || traffic.length === 0) return undefined;
  const { sure } = payoffOf(present.policy, trafficGroups(traffic), tradeoff);
  const ends = Array.from({ length: futures }, (_, i) => {
    onFuture?.(i);
    const own = random.split(i);
    const truth = report.samplePosterior(own.split("truth"));
    return sure >= ENOUGH ? { votes: 0, dollars: 0 } : futureOf(input, copy(), truth, own);
  });
  const votes = quantilesOf(ends.map(({ votes }) => votes));
  const hasCosts = traffic.every(({ costs }) => costs);
  return {
    verdict: sure >= ENOUGH ? "now" : votes.median === null ? "never" : "later",
    sure,
    reached: ends.filter(({ votes }) => votes < Infinity).length / futures,
    votes,
    dollars: hasCosts ? quantilesOf(ends.map(({ dollars }) => dollars)) : null,
    horizon,
    futures,
  };
}

/** Probability from which on routing counts as better. */
export const ENOUGH = 0.95;

interface End {
  readonly votes: number;
  readonly dollars: number;
}

function futureOf(
  { traffic, tradeoff, horizon }: ForecastInput,
  router: Router,
  truth: PosteriorSample,
  random: Random,
): End {
  const vote = voterOf(truth, random.split("votes"));
  const groups = trafficGroups(traffic);
  const queries = random.split("queries");
  let dollars = 0;
  for (let votes = 1; votes <= horizon; votes++) {
    const query = traffic[queries.integer(traffic.length)]!;
    const decision = routeDuel(router, query, tradeoff, random.split(votes));
    const [a, b] = decision.pair;
    router.vote(decision, vote(query.w, a, b), random);
    if (query.costs) dollars += query.costs[a]! + query.costs[b]!;
    if (isCheckpoint(votes) && payoffOf(router.policy, groups, tradeoff).sure >= ENOUGH) {
      return { votes, dollars };
    }
  }
  return { votes: Infinity, dollars: Infinity };
}

/** A duel on a query of the traffic, with prices relative to the most expensive model, as the gateway chooses it. */
export function routeDuel(
  router: Router,
  { x, candidates, costs }: ForecastQuery,
  tradeoff: number,
  random: Random,
) {
  const highest = costs ? Math.max(...candidates.map((k) => costs[k]!)) : 0;
  const lambda = highest > 0 ? (costWeightOf(tradeoff) * router.settings.costUnit) / highest : 0;
  return router.route({ x, candidates, costs, lambda, answers: 2 }, random);
}

/** Numbers of votes at which a future is checked: all of them would take too long. */
export function isCheckpoint(votes: number): boolean {
  const step = votes < 50 ? 5 : votes < 200 ? 10 : votes < 1000 ? 25 : 100;
  return votes % step === 0;
}

/**
 * Votes by Davidson's model with the utilities of a draw. The share r of votes with a winner between
 * equal answers follows from the draw's margin, r s / 2, and a tie then has the probability 1 - r.
 */
function voterOf(
  { utilities, scale, margin }: PosteriorSample,
  random: Random,
): (w: Float64Array, a: number, b: number) => Outcome {
  const decided = Math.min(1, (2 * margin) / scale);
  const width = (2 * (1 - decided)) / decided;
  let u: Float64Array | undefined;
  return (w, a, b) => {
    u = utilities(w, u);
    const p = davidson(scale * (u[a]! - u[b]!), width);
    const drawn = random.uniform();
    return drawn < p.a ? "a" : drawn < p.a + p.tie ? "tie" : "b";
  };
}

/** Median, 5% and 95% quantile, of which infinite ones become null. */
function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
    return value === Infinity ? null : value;
  };
  return { median: at(0.5), lo: at(0.05), hi: at(0.95) };
}
