import { Random } from "../../core/random/random.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Serving } from "../routing/serving.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { performanceOf } from "./performance.ts";
import { pricesOf, spendOf } from "./spend.ts";
import { leaderboardOf } from "./standings.ts";
import { trafficOf } from "./traffic.ts";

export interface GaugeSources {
  readonly metrics: Metrics;
  readonly serving: () => Serving;
  readonly store: Store;
  readonly log: Pick<GroupCommit, "stats">;
  readonly clock: Clock;
}

/** Sets the gauges: metrics that show a state rather than a count. */
export async function collect(sources: GaugeSources): Promise<void> {
  const { metrics, log } = sources;
  const { models, routers } = sources.serving();
  const { waiting, dropped, down } = log.stats;
  metrics.logWaiting.set(waiting);
  metrics.logDropped.set(dropped);
  metrics.storeUp.set(down ? 0 : 1);
  for (const [model, served] of models) {
    metrics.resting.set({ model }, served.isResting ? 1 : 0);
    for (const { spec, state } of served.deployments) {
      metrics.deploymentResting.set({ model, deployment: spec.name }, state === "open" ? 1 : 0);
    }
  }
  await Promise.all([...routers.values()].map((router) => collectRouter(sources, router)));
}

async function collectRouter(
  { metrics, store, clock }: GaugeSources,
  router: LiveRouter,
): Promise<void> {
  await router.readRecent();
  const { name, view, guard } = router;
  metrics.version.set({ router: name }, view.version);
  metrics.guard.set({ router: name }, guard === undefined ? 0 : 1);
  const traffic = trafficOf(view, router.recent.all);
  const performance = performanceOf(view, traffic, Random.seeded(view.version));
  if (performance) metrics.regret.set({ router: name }, performance.regret.mean);
  const now = clock.date();
  const span = { router: name, from: now - MONTH_MS, to: now + 1, step: DAY_MS };
  try {
    metrics.lag.set({ router: name }, Math.max(0, (await store.head(name)) - view.version));
    const { overall } = leaderboardOf(view, Random.seeded(1).split("worlds"));
    const spend = spendOf(await store.tallies(span), pricesOf(router.models.values()), overall);
    if (spend.always_best) metrics.savings.set({ router: name }, spend.always_best.savings);
    else metrics.savings.remove({ router: name });
  } catch {
    // If the store is down, the gauges keep their values and joust_store_up is 0.
  }
}

const MONTH_MS = 30 * DAY_MS;
