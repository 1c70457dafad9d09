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

/** GET /v1/stats: a router's numbers, and how it is served. */
export async function stats(
  { log, tallies: past, clock }: StatsSources,
  router: LiveRouter,
  hours: number,
): Promise<Stats> {
  const { view: belief, recent, models } = router;
  const now = clock.date();
  const window = windowOf(hours, now);
  await logged(log);
  // What waits for a store that is down will be counted in its own time.
  if (log.stats.down) past.forget();
  const tallies = await past.read({ router: router.name, ...window });
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
