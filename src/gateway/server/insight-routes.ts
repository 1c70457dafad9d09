import { EventData } from "../../api/event.ts";
import { LearningCurve, MapQuery, PromptMap, Tradeoff, TradeoffQuery } from "../../api/insight.ts";
import { Stats, StatsQuery } from "../../api/stats.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Access } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import { events } from "../insight/events.ts";
import type { Forecasts } from "../insight/forecasts.ts";
import { learningCurve } from "../insight/learning-curve.ts";
import { windowOf } from "../insight/numbers.ts";
import { promptMap } from "../insight/prompt-map.ts";
import type { ShadowResults } from "../insight/shadow.ts";
import { type PastTallies, stats } from "../insight/stats.ts";
import { tradeoffCurve } from "../insight/tradeoff-curve.ts";
import type { Feed } from "../log/feed.ts";
import { logged } from "../log/logged.ts";
import { routerNamed, type Serving } from "../routing/serving.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type App, contract, takingOver } from "./app.ts";

export interface InsightParts {
  readonly serving: () => Serving;
  readonly store: Store;
  readonly log: GroupCommit;
  readonly tallies: PastTallies;
  readonly forecasts: Forecasts;
  readonly shadows: ShadowResults;
  readonly feed: Feed;
  readonly access: Pick<Access, "stillAdmits">;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "duration">;
  /** Aborts when the gateway shuts down. */
  readonly closing: AbortSignal;
}

/**
 * Adds the endpoints that the page's dashboard reads. Numbers by model need the scope `metrics`: their change after a
 * duel would tell a voter which models answered it.
 */
export function addInsightRoutes(app: App, parts: InsightParts): void {
  const { serving, store, log, clock, feed, closing, access } = parts;
  app.route({
    method: "GET",
    url: "/v1/events",
    ...contract({
      summary: "Streams decisions, answers, votes and new posteriors as they happen.",
      scope: "route",
      response: EventData,
      contentType: "text/event-stream",
    }),
    ...takingOver(({ caller, headers }, client) => {
      const isAdmitted = () => access.stillAdmits(headers, "route", caller);
      return events({ routers: serving().routers, feed, closing, isAdmitted }, caller, client);
    }),
  });
  app.get(
    "/v1/stats",
    contract({
      summary: "Shows the leaderboard, spend, savings, regret and counts of a router.",
      scope: "metrics",
      querystring: StatsQuery,
      response: Stats,
      errors: [404],
    }),
    ({ caller, query: { router, hours } }) =>
      stats(parts, routerNamed(serving(), router, caller), hours),
  );
  app.get(
    "/v1/tradeoff",
    contract({
      summary: "Shows what each cost_quality_tradeoff would do to the recent queries.",
      scope: "route",
      querystring: TradeoffQuery,
      response: Tradeoff,
      errors: [404],
    }),
    async ({ caller, query }) => {
      const router = routerNamed(serving(), query.router, caller);
      await router.readRecent();
      const { name, view, recent, config } = router;
      const current = config.cost_quality_tradeoff;
      return tradeoffCurve(name, view, recent.all, current, caller.models);
    },
  );
  app.get(
    "/v1/learning",
    contract({
      summary: "Shows regret, win rate and shares of models over time.",
      scope: "metrics",
      querystring: StatsQuery,
      response: LearningCurve,
      errors: [404],
    }),
    async ({ caller, query }) => {
      await logged(log);
      const { name, view } = routerNamed(serving(), query.router, caller);
      return learningCurve(store, name, view, windowOf(query.hours, clock.date()));
    },
  );
  app.get(
    "/v1/map",
    contract({
      summary: "Shows recent prompts as points of a plane, similar ones close together.",
      scope: "route",
      querystring: MapQuery,
      response: PromptMap,
      errors: [404],
    }),
    ({ caller, query }) => {
      const owner = caller.isAdmin ? undefined : caller.owner;
      const { name, view } = routerNamed(serving(), query.router, caller);
      return promptMap(store, name, view, owner, query.limit);
    },
  );
}
