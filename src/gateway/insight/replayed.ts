import {
  type LearningCurve,
  MAP_POINTS,
  type PromptMap,
  type Tradeoff,
} from "../../api/insight.ts";
import { categoryMembership } from "../../core/bandit/features.ts";
import type { Fold } from "../../learner/fold.ts";
import { inPages } from "../../learner/pages.ts";
import { weightOf } from "../../store/decision.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Cursor, Store, TallyQuery } from "../../store/store.ts";
import { addCounts, noCounts, type Tallied, type Tally, tally } from "../../store/tally.ts";
import { RecentQueries, type RecentQuery } from "../routing/recent.ts";
import { learningCurve } from "./learning-curve.ts";
import { numbersOf, type Window } from "./numbers.ts";
import { promptMap } from "./prompt-map.ts";
import type { Prices } from "./spend.ts";
import { tradeoffCurve } from "./tradeoff-curve.ts";
import type { PosteriorView } from "./traffic.ts";

/** Numbers that the page shows of a router, by the names of their endpoints. */
export interface Insight {
  readonly stats: ReturnType<typeof numbersOf>;
  readonly learning: LearningCurve;
  readonly tradeoff: Omit<Tradeoff, "current"> & { readonly current: number | null };
  readonly map: PromptMap;
}

/**
 * Computes the page's numbers again: the posterior from the folded log, and the counts from the
 * events instead of the stored tallies.
 */
export async function insightOf(
  store: Store,
  router: string,
  fold: Fold,
  window: Window,
  { prices, current }: { readonly prices: Prices; readonly current: number | null },
): Promise<Insight> {
  const posterior = posteriorOf(fold);
  const recent = await recentOf(store, router, window.to);
  const tallies = await recount(store, router, window);
  const own = new Map([...prices].filter(([model]) => posterior.pool.models.includes(model)));
  return {
    stats: numbersOf({ posterior, recent, window, tallies, prices: own }),
    learning: await learningCurve(store, router, posterior, window),
    tradeoff: tradeoffCurve(router, posterior, recent, current),
    map: await promptMap(store, router, posterior, undefined, MAP_POINTS),
  };
}

function posteriorOf({ router, configuration, position }: Fold): PosteriorView {
  const { pool, encoder } = configuration!;
  const membership = categoryMembership(pool.centroids);
  return { pool, encoder, router: router!, version: position, membership };
}

async function recentOf(store: Store, router: string, to: number): Promise<readonly RecentQuery[]> {
  const recent = new RecentQueries();
  await recent.fill(store, router, to);
  return recent.all;
}

/**
 * Counts the events of a window. The result equals that of `store.tallies` or, if decisions are
 * sampled, is an unbiased estimate of it.
 */
export async function recount(
  store: Store,
  router: string,
  { from, to, step }: Window,
): Promise<Tally[]> {
  const sums = new Map<string, Tally>();
  const count = (events: readonly Tallied[], weight = 1) => {
    const inside = events.filter(({ at }) => at >= from && at < to);
    for (const { bucket: fine, model, counts } of tally(inside)) {
      const bucket = fine - (fine % step);
      const key = `${bucket} ${model}`;
      const sum = addCounts(sums.get(key)?.counts ?? noCounts(), counts, weight);
      sums.set(key, { router, bucket, model, counts: sum });
    }
  };
  let areCounted = true;
  for await (const page of decisionsOf(store, router)) {
    if (page.some(({ answers }) => answers.some(({ always }) => always === "counted"))) {
      areCounted = false;
    }
    const groups = Map.groupBy(page, ({ decision }) => weightOf(decision));
    for (const [weight, records] of groups) {
      const events = records.flatMap(({ decision, answers }) => [decision, ...answers]);
      if (weight > 0) count(events, weight);
    }
    // An answer is logged at most a day after its request, so requests from more than a day before
    // the window have no answer in it.
    if (page.at(-1)!.decision.at < from - LATEST_ANSWER_MS) break;
  }
  for await (const event of inPages((after, limit) => store.logEvents(router, after, limit))) {
    count([event]);
  }
  if (!areCounted) await addAlways(store, { router, from, to, step }, sums);
  return [...sums.values()].toSorted((a, b) => a.bucket - b.bucket || (a.model < b.model ? -1 : 1));
}

/** Takes the costs of "always one model" from the tallies, because the rows of a large pool do not have them. */
async function addAlways(store: Store, query: TallyQuery, sums: Map<string, Tally>): Promise<void> {
  for (const found of await store.tallies(query)) {
    const key = `${found.bucket} ${found.model}`;
    const { always_cost, always_doubt } = found.counts;
    const counts = { ...(sums.get(key)?.counts ?? noCounts()), always_cost, always_doubt };
    sums.set(key, { ...found, counts });
  }
}

const PAGE = 500;
const LATEST_ANSWER_MS = DAY_MS;

async function* decisionsOf(store: Store, router: string) {
  for (let before: Cursor | undefined; ; ) {
    const page = await store.decisions({ router, before, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    before = page.at(-1)!.decision;
  }
}
