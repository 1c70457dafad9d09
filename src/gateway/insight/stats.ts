import type { Stats } from "../../api/stats.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store, TallyQuery } from "../../store/store.ts";
import { BUCKET_MS, type Tally } from "../../store/tally.ts";
import type { Clock } from "../clock/clock.ts";
import { logged } from "../log/logged.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Forecasts } from "./forecasts.ts";
import { HEALTH_MS, healthOf } from "./health.ts";
import { p95ByModel } from "./latency.ts";
import { numbersOf, windowOf } from "./numbers.ts";
import type { ShadowResults } from "./shadow.ts";
import { pricesOf, sumsOf } from "./spend.ts";

interface StatsSources {
  readonly log: GroupCommit;
  readonly tallies: PastTallies;
  readonly clock: Clock;
  readonly forecasts: Forecasts;
  readonly shadows: ShadowResults;
  readonly metrics: Pick<Metrics, "duration">;
}

/** GET /v1/stats: numbers and state of a router. */
export async function stats(
  { log, tallies: past, clock, forecasts, shadows, metrics }: StatsSources,
  router: LiveRouter,
  hours: number,
): Promise<Stats> {
  const { view: posterior, recent, models } = router;
  const isShadowed = router.config.mode === "observe" && router.config.judge !== undefined;
  const now = clock.date();
  const window = windowOf(hours, now);
  await logged(log);
  await router.readRecent();
  // Events that wait for the store will be counted at the time they happened.
  if (log.stats.down) past.forget();
  const tallies = await past.read({ router: router.name, ...window });
  const recently = { router: router.name, from: now - HEALTH_MS, to: now + 1, step: BUCKET_MS };
  const latest = sumsOf(await past.recent(recently));
  const prices = pricesOf(models.values());
  const numbers = numbersOf({ posterior, recent: recent.all, window, tallies, prices });
  const p95 = await p95ByModel(metrics.duration);
  return {
    object: "stats",
    router: router.name,
    mode: router.config.mode,
    at: new Date(now).toISOString(),
    learner: router.isLearner,
    guard: router.guard ?? null,
    warnings: router.warnings,
    tradeoff: router.config.cost_quality_tradeoff,
    forecast: forecasts.of(router) ?? null,
    shadow: isShadowed ? await shadows.of(router.name) : null,
    ...numbers,
    models: numbers.models.map((counts) => {
      const breaker = models.get(counts.model)?.state ?? null;
      return {
        ...counts,
        p95_latency_ms: p95.get(counts.model) ?? null,
        health: healthOf(latest.get(counts.model), breaker),
        breaker,
      };
    }),
  };
}

/**
 * Cache of the counts of a window. Only the last steps are read again, because older ones do not
 * change. A year in steps of days consists of a million rows of five minutes, and votes would
 * have to wait while they are read.
 */
export class PastTallies {
  readonly #store: Pick<Store, "tallies">;
  #known = new Map<string, Known>();

  constructor(store: Pick<Store, "tallies">) {
    this.#store = store;
  }

  /** Reads the counts as the store returns them. `from` is a multiple of `step`. */
  async read(query: TallyQuery): Promise<Tally[]> {
    const { router, from, to, step } = query;
    const key = `${step} ${router}`;
    const all = this.#known;
    const known = all.get(key);
    const isUsable = known !== undefined && known.from <= from && known.until <= to;
    const start = isUsable ? Math.max(from, known.until) : from;
    const fresh = await this.#store.tallies({ ...query, from: start });
    const past = isUsable ? known.tallies.filter(({ bucket }) => bucket >= from) : [];
    const tallies = [...past, ...fresh];
    const until = Math.max(start, Math.floor((to - SETTLED_MS) / step) * step);
    all.set(key, { from, until, tallies: tallies.filter(({ bucket }) => bucket < until) });
    return tallies;
  }

  /** Reads counts without the cache, for a short span. */
  recent(query: TallyQuery): Promise<Tally[]> {
    return this.#store.tallies(query);
  }

  /** Empties the cache, because events that are logged late may belong to old steps. */
  forget(): void {
    // A read that is running continues with the previous map.
    this.#known = new Map();
  }
}

interface Known {
  readonly from: number;
  /** End of the cached steps, where reading continues. */
  readonly until: number;
  readonly tallies: readonly Tally[];
}

/** Time after which a step is complete. Other nodes may log late. */
const SETTLED_MS = 3_600_000;
