import { Random } from "../../random/random.ts";
import { ALL_MODELS, BUCKET_MS, type Counts, type Tally } from "../../store/tally.ts";
import type { Gateway } from "../gateway.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { spendOf } from "./spend.ts";
import { standings } from "./standings.ts";
import { mixOf, trafficOf } from "./traffic.ts";
import { worthOf } from "./worth.ts";

/** GET /v1/stats: where a router stands, what it costs and what it is worth. */
export async function stats(gateway: Gateway, router: LiveRouter, hours: number): Promise<object> {
  const { clock, store, log } = gateway;
  const { view } = router;
  const now = clock.date();
  const step = stepFor(hours);
  const from = Math.floor((now - hours * HOUR) / step) * step;
  if (log.stats.waiting > 0 && !log.stats.down) await log.flush();
  const tallies = await store.tallies({ router: router.name, from, to: now + 1, step });
  const traffic = trafficOf(view, router.recent.all);
  const mix = mixOf(view, traffic);
  // The same numbers until something is learnt or asked.
  const random = Random.seeded(view.version);
  const overall = standings(view, mix, random.split("overall"));
  const { categories } = view.pool;
  const byCategory = categories.map((category, m) => ({
    category,
    share: mix[m]!,
    models: standings(view, only(m, categories.length), random.split(m)),
  }));
  const totals = totalsOf(tallies);
  const worth = worthOf(view, traffic, random.split("worth"));
  const { all } = totals;
  return {
    object: "stats",
    router: router.name,
    mode: router.config.mode,
    at: new Date(now).toISOString(),
    window: { from: new Date(from).toISOString(), hours, step_seconds: step / 1000 },
    posterior_version: view.version,
    learner: router.isLearner,
    guard: router.guard ?? null,
    warnings: router.warnings,
    tradeoff: router.config.cost_quality_tradeoff,
    recent_queries: traffic.length,
    leaderboard: { overall, categories: byCategory },
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
    models: view.pool.models.map((model) => ({
      ...modelCounts(model, totals.byModel.get(model)),
      /** Of its breaker: open while it has failed too often to be asked. */
      breaker: router.models.get(model)?.breaker.state ?? null,
    })),
    series: seriesOf(tallies),
    spend: spendOf(tallies, router.models, overall[0]?.model),
    regret: worth?.regret ?? null,
    win_rate: worth?.winRate ?? null,
    quality: worth?.quality ?? null,
  };
}

const HOUR = 3_600_000;

/** About a hundred points, whatever the span. */
function stepFor(hours: number): number {
  const wanted = (hours * HOUR) / 100;
  return Math.max(1, Math.ceil(wanted / BUCKET_MS)) * BUCKET_MS;
}

function only(m: number, M: number): Float64Array {
  return Float64Array.from({ length: M }, (_, other) => Number(other === m));
}

function totalsOf(tallies: readonly Tally[]): { all: Counts; byModel: Map<string, Counts> } {
  const byModel = new Map<string, Counts>();
  for (const { model, counts } of tallies) {
    const sum = byModel.get(model);
    byModel.set(model, sum ? added(sum, counts) : counts);
  }
  return { all: byModel.get(ALL_MODELS) ?? NONE, byModel };
}

function added(a: Counts, b: Counts): Counts {
  const names = Object.keys(a) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Counts;
}

const NONE: Counts = {
  shown: 0,
  duels: 0,
  answers: 0,
  failures: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  latency_ms: 0,
  votes: 0,
  wins: 0,
  ties: 0,
  both_bad: 0,
  ratings: 0,
  rating_sum: 0,
};

function modelCounts(model: string, counts: Counts = NONE): object {
  const { shown, duels, answers, failures, votes, wins, ties, both_bad, ratings } = counts;
  return {
    model,
    shown,
    duels,
    answers,
    failures,
    votes,
    wins,
    ties,
    both_bad,
    ratings,
    mean_rating: ratings > 0 ? counts.rating_sum / ratings : null,
    cost: counts.cost,
    mean_latency_ms: answers > 0 ? counts.latency_ms / answers : null,
  };
}

/** Over time: requests, duels, votes, spend, and how often each model was shown. */
function seriesOf(tallies: readonly Tally[]): object[] {
  const points = Map.groupBy(tallies, ({ bucket }) => bucket);
  return [...points].map(([bucket, list]) => {
    const all = list.find(({ model }) => model === ALL_MODELS)?.counts ?? NONE;
    const shown = list.filter(({ model }) => model !== ALL_MODELS);
    return {
      at: new Date(bucket).toISOString(),
      requests: all.shown,
      duels: all.duels,
      votes: all.votes,
      cost: all.cost,
      shown: Object.fromEntries(shown.map(({ model, counts }) => [model, counts.shown])),
    };
  });
}
