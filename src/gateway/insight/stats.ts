import type { Stats } from "../../api/stats.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Clock } from "../clock/clock.ts";
import { logged } from "../log/logged.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { numbersOf, windowOf } from "./numbers.ts";
import type { PastTallies } from "./past-tallies.ts";
import { pricesOf } from "./spend.ts";

interface StatsSources {
  readonly log: GroupCommit;
  readonly tallies: PastTallies;
  readonly clock: Clock;
}

/** GET /v1/stats: numbers and state of a router. */
export async function stats(
  { log, tallies: past, clock }: StatsSources,
  router: LiveRouter,
  hours: number,
): Promise<Stats> {
  const { view: posterior, recent, models } = router;
  const now = clock.date();
  const window = windowOf(hours, now);
  await logged(log);
  // Events that wait for the store will be counted at the time they happened.
  if (log.stats.down) past.forget();
  const tallies = await past.read({ router: router.name, ...window });
  const prices = pricesOf(models.values());
  const numbers = numbersOf({ posterior, recent: recent.all, window, tallies, prices });
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
      breaker: models.get(counts.model)?.breaker.state ?? null,
    })),
  };
}
