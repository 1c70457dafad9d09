import type { Gateway } from "../gateway.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { numbersOf, windowOf } from "./numbers.ts";
import { pricesOf } from "./spend.ts";

/** GET /v1/stats: a router's numbers, and how it is served. */
export async function stats(gateway: Gateway, router: LiveRouter, hours: number): Promise<object> {
  const { clock, log } = gateway;
  const { view: belief, recent, models } = router;
  const now = clock.date();
  const window = windowOf(hours, now);
  await logged(gateway);
  // What waits for a store that is down will be counted in its own time.
  if (log.stats.down) gateway.tallies.forget();
  const tallies = await gateway.tallies.read({ router: router.name, ...window });
  const prices = pricesOf(models.values());
  const numbers = numbersOf({ belief, recent: recent.all, window, tallies, prices });
  return {
    object: "stats",
    router: router.name,
    mode: router.config.mode,
    at: new Date(now).toISOString(),
    learner: router.isLearner,
    guard: router.guard ?? null,
    warnings: router.warnings,
    tradeoff: router.config.cost_quality_tradeoff,
    ...numbers,
    models: numbers.models.map((counts) => ({
      ...counts,
      /** Of its breaker: open while it has failed too often to be asked. */
      breaker: models.get(counts.model)?.breaker.state ?? null,
    })),
  };
}

/** Until what has happened is in the log, which may be a moment behind. */
export async function logged({ log }: Gateway): Promise<void> {
  if (log.stats.waiting > 0 && !log.stats.down) await log.flush();
}
