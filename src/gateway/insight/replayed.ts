import { type Learning, MAP_POINTS, type PromptMap, type Tradeoff } from "../../api/insight.ts";
import { categoryMembership } from "../../core/bandit/features.ts";
import type { Fold } from "../../learner/fold.ts";
import { inPages } from "../../learner/pages.ts";
import type { Store } from "../../store/store.ts";
import { type Tallied, type Tally, tally } from "../../store/tally.ts";
import { RecentQueries, type RecentQuery } from "../routing/recent-queries.ts";
import { learningCurve } from "./learning-curve.ts";
import { added, numbersOf, type Window } from "./numbers.ts";
import { promptMap } from "./prompt-map.ts";
import type { Prices } from "./spend.ts";
import { tradeoffCurve } from "./tradeoff-curve.ts";
import type { Belief } from "./traffic.ts";

/** What the page shows of a router, under the names of the interface. */
export interface Insight {
  readonly stats: ReturnType<typeof numbersOf>;
  readonly learning: Learning;
  readonly tradeoff: Omit<Tradeoff, "current"> & { readonly current: number | null };
  readonly map: PromptMap;
}

/**
 * The page's numbers, all computed anew: beliefs from the log as it was folded
 * again, and counts event by event rather than from the tallies that are kept.
 */
export async function insightOf(
  store: Store,
  router: string,
  fold: Fold,
  window: Window,
  { prices, current }: { readonly prices: Prices; readonly current: number | null },
): Promise<Insight> {
  const belief = beliefOf(fold);
  const recent = await recentOf(store, router, window.to);
  const tallies = await recount(store, router, window);
  const own = new Map([...prices].filter(([model]) => belief.pool.models.includes(model)));
  return {
    stats: numbersOf({ belief, recent, window, tallies, prices: own }),
    learning: await learningCurve(store, router, belief, window),
    tradeoff: tradeoffCurve(router, belief, recent, current),
    map: await promptMap(store, router, belief, undefined, MAP_POINTS),
  };
}

function beliefOf({ router, configuration, position }: Fold): Belief {
  const { pool } = configuration!;
  const membership = categoryMembership(pool.centroids);
  return { pool, router: router!, version: position, membership };
}

async function recentOf(store: Store, router: string, to: number): Promise<readonly RecentQuery[]> {
  const recent = new RecentQueries();
  await recent.fill(store, router, to);
  return recent.all;
}

/** What `store.tallies` says, counted again. */
async function recount(store: Store, router: string, { from, to, step }: Window): Promise<Tally[]> {
  const sums = new Map<string, Tally>();
  const count = (events: readonly Tallied[]) => {
    const inside = events.filter(({ at }) => at >= from && at < to);
    for (const { bucket: fine, model, counts } of tally(inside)) {
      const bucket = fine - (fine % step);
      const key = `${bucket} ${model}`;
      const sum = sums.get(key)?.counts;
      sums.set(key, { router, bucket, model, counts: sum ? added(sum, counts) : counts });
    }
  };
  for await (const page of decisionsOf(store, router)) {
    count(page.flatMap(({ decision, answers }) => [decision, ...answers]));
    // An answer comes after its request, so what is older than the window by a day has none in it.
    if (page.at(-1)!.decision.at < from - LATEST_ANSWER_MS) break;
  }
  for await (const event of inPages((after, limit) => store.learning(router, after, limit))) {
    count([event]);
  }
  return [...sums.values()].toSorted((a, b) => a.bucket - b.bucket || (a.model < b.model ? -1 : 1));
}

const PAGE = 500;
const LATEST_ANSWER_MS = 86_400_000;

async function* decisionsOf(store: Store, router: string) {
  for (let before: number | undefined; ; ) {
    const page = await store.decisions({ router, before, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    before = page.at(-1)!.decision.position;
  }
}
