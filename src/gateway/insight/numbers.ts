import type { Band } from "../../api/common.ts";
import type { Stats } from "../../api/stats.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import { Random } from "../../core/random/random.ts";
import { ALL_MODELS, BUCKET_MS, type Counts, noCounts, type Tally } from "../../store/tally.ts";
import type { RecentQuery } from "../routing/recent.ts";
import { performanceOf } from "./performance.ts";
import { type Prices, spendOf, sumsOf } from "./spend.ts";
import { leaderboardOf } from "./standings.ts";
import { type PosteriorView, trafficOf } from "./traffic.ts";

/** Time span of the counts and its steps. Times are in milliseconds since 1970. */
export interface Window {
  readonly hours: number;
  readonly from: number;
  /** End of the window, exclusive. */
  readonly to: number;
  readonly step: number;
}

export function windowOf(hours: number, now: number): Window {
  // The step gives about a hundred points.
  const step = Math.max(1, Math.ceil((hours * HOUR) / 100 / BUCKET_MS)) * BUCKET_MS;
  return { hours, from: Math.floor((now - hours * HOUR) / step) * step, to: now + 1, step };
}

const HOUR = 3_600_000;

/** Sources of the numbers: a posterior, the recent queries, and the counts of a window. */
interface Sources {
  readonly posterior: PosteriorView;
  readonly recent: readonly RecentQuery[];
  readonly window: Window;
  readonly tallies: readonly Tally[];
  readonly prices: Prices;
}

/** Leaderboard, counts, cost and performance of a router. */
export function numbersOf({ posterior, recent, window, tallies, prices }: Sources) {
  const traffic = trafficOf(posterior, recent);
  // The seed is fixed, so that the numbers change only with new votes or queries.
  const random = Random.seeded(1);
  const leaderboard = leaderboardOf(posterior, random.split("worlds"));
  const { models } = posterior.pool;
  const byModel = sumsOf(tallies);
  const all = byModel.get(ALL_MODELS) ?? noCounts();
  const given = models.reduce((sum, model) => sum + givenOf(byModel.get(model)), 0);
  const performance = performanceOf(posterior, traffic, random.split("worth"));
  return {
    window: {
      from: new Date(window.from).toISOString(),
      hours: window.hours,
      step_seconds: window.step / 1000,
    },
    posterior_version: posterior.version,
    recent_queries: traffic.length,
    leaderboard,
    counts: {
      requests: all.shown,
      duels: all.duels,
      duel_rate: all.shown > 0 ? all.duels / all.shown : 0,
      answers: all.answers,
      failures: all.failures,
      votes: all.votes,
      ties: all.ties,
      both_bad: all.both_bad,
      ratings: all.ratings,
      first_wins: all.wins,
      input_tokens: all.input_tokens,
      output_tokens: all.output_tokens,
    },
    voters: voterKinds(posterior),
    models: models.map((model) => modelCounts(model, byModel.get(model), given)),
    series: seriesOf(tallies),
    spend: spendOf(tallies, prices, leaderboard.overall),
    regret: performance?.regret ?? null,
    win_rate: performance?.winRate ?? null,
    quality: performance?.quality ?? null,
  };
}

/** Kinds of voters other than people, with 95% intervals. */
function voterKinds({ router }: PosteriorView): Stats["voters"] {
  const kinds = reportOf(router.policy)?.voterKinds() ?? [];
  return kinds.map(({ kind, votes, scale, first, length, own }) => ({
    kind,
    votes,
    scale: bandOf(scale),
    first: bandOf(first),
    length: length ? bandOf(length) : null,
    own_family: own ? bandOf(own) : null,
  }));
}

/** The mean of a normal estimate with its 95% interval. */
export function bandOf({ mean, sd }: { readonly mean: number; readonly sd: number }): Band {
  return { mean, lo: mean - 1.96 * sd, hi: mean + 1.96 * sd };
}

/** Number of answers that clients received. */
function givenOf({ answers, failures, for_judge }: Counts = noCounts()): number {
  return answers - failures - for_judge;
}

function modelCounts(model: string, all: Counts = noCounts(), given: number) {
  const { answers, failures, fallbacks, ratings, shown: chosen, duels } = all;
  const { votes, wins, ties, both_bad, cost, latency_ms: latency, rating_sum: sum } = all;
  return {
    model,
    chosen,
    given: givenOf(all),
    share: given > 0 ? givenOf(all) / given : null,
    duels,
    calls: answers + fallbacks,
    failures: failures + fallbacks,
    votes,
    wins,
    ties,
    both_bad,
    ratings,
    mean_rating: ratings > 0 ? sum / ratings : null,
    cost,
    input_tokens: all.input_tokens,
    output_tokens: all.output_tokens,
    mean_latency_ms: answers > 0 ? latency / answers : null,
  };
}

/** Requests, duels, votes, cost and answers given per model, over time. */
function seriesOf(tallies: readonly Tally[]) {
  const points = Map.groupBy(tallies, ({ bucket }) => bucket);
  return [...points].map(([bucket, list]) => {
    const all = list.find(({ model }) => model === ALL_MODELS)?.counts ?? noCounts();
    const models = list.filter(({ model }) => model !== ALL_MODELS);
    return {
      at: new Date(bucket).toISOString(),
      requests: all.shown,
      duels: all.duels,
      votes: all.votes,
      cost: all.cost,
      given: Object.fromEntries(models.map(({ model, counts }) => [model, givenOf(counts)])),
    };
  });
}
