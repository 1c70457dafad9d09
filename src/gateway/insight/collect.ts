import { Random } from "../../core/random/random.ts";
import type { Gateway } from "../gateway.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { pricesOf, spendOf } from "./spend.ts";
import { standings } from "./standings.ts";
import { mixOf, trafficOf } from "./traffic.ts";
import { worthOf } from "./worth.ts";

/** Metrics that are states rather than counts, as they are now. */
export async function collect(gateway: Gateway): Promise<void> {
  const { metrics, log, serving } = gateway;
  const { waiting, dropped, down } = log.stats;
  metrics.logWaiting.set(waiting);
  metrics.logDropped.set(dropped);
  metrics.storeUp.set(down ? 0 : 1);
  for (const [model, served] of serving.models) {
    metrics.resting.set({ model }, served.isResting ? 1 : 0);
  }
  await Promise.all([...serving.routers.values()].map((router) => collectRouter(gateway, router)));
}

async function collectRouter(gateway: Gateway, router: LiveRouter): Promise<void> {
  const { metrics, store, clock } = gateway;
  const { name, view, guard } = router;
  metrics.version.set({ router: name }, view.version);
  metrics.guard.set({ router: name }, guard === undefined ? 0 : 1);
  const traffic = trafficOf(view, router.recent.all);
  const worth = worthOf(view, traffic, Random.seeded(view.version));
  if (worth) metrics.regret.set({ router: name }, worth.regret.mean);
  const now = clock.date();
  const span = { router: name, from: now - MONTH_MS, to: now + 1, step: DAY_MS };
  try {
    metrics.lag.set({ router: name }, Math.max(0, (await store.head(name)) - view.version));
    const overall = standings(view, mixOf(view, traffic));
    const spend = spendOf(await store.tallies(span), pricesOf(router.models.values()), overall);
    if (spend.always_best) metrics.savings.set({ router: name }, spend.always_best.savings);
  } catch {
    // Without the store the last values stand, and joust_store_up tells why.
  }
}

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
