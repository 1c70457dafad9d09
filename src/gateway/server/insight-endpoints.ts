import { z } from "zod";
import { HttpError } from "../errors/http-error.ts";
import { events } from "../insight/events.ts";
import { learningCurve } from "../insight/learning-curve.ts";
import { windowOf } from "../insight/numbers.ts";
import { MAP_POINTS, promptMap } from "../insight/prompt-map.ts";
import { stats } from "../insight/stats.ts";
import { tradeoffCurve } from "../insight/tradeoff-curve.ts";
import { logged } from "../log/logged.ts";
import { routerNamed } from "../routing/serving.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { bodyOf, type Endpoint, queryOf } from "./endpoint.ts";
import type { ServerParts } from "./parts.ts";

const ROUTER = z.string().min(1).max(256).optional().describe("The first one unless said.");
const WINDOW = z.object({
  router: ROUTER,
  hours: z.coerce.number().min(1).max(8784).default(24).describe("How far back counts go."),
});
const TRADEOFF = z.object({ router: ROUTER });
const MAP = z.object({
  router: ROUTER,
  limit: z.coerce.number().int().min(1).max(1000).default(MAP_POINTS),
});
const VOTERS = z.object({
  on: z.boolean().optional(),
  votes_per_minute: z.number().min(1).max(6000).optional(),
  voters: z.int().min(1).max(1000).optional(),
});

/** For who watches: the page's numbers, and the sandbox's own. */
export const INSIGHT_ENDPOINTS: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/v1/events",
    summary: "What happens, as server-sent events: decision, answer, vote, posterior.",
    scope: "route",
    answer: "A stream that does not end.",
    type: "text/event-stream",
    handle: ({ gateway, caller }, client) =>
      events({ ...gateway, routers: gateway.serving().routers }, caller, client),
  },
  {
    method: "GET",
    path: "/v1/stats",
    summary: "Leaderboards, shares over time, spend and savings, votes, regret and win rate.",
    scope: "route",
    query: WINDOW,
    answer: "The numbers, with intervals.",
    refusals: [404, 503],
    handle: (call) => {
      const { router, hours } = queryOf(WINDOW, call);
      return stats(call.gateway, routerNamed(call.gateway.serving(), router), hours);
    },
  },
  {
    method: "GET",
    path: "/v1/tradeoff",
    summary: "What each cost_quality_tradeoff would do to the recent queries.",
    scope: "route",
    query: TRADEOFF,
    answer: "Shares of models, quality and cost for each setting.",
    refusals: [404],
    handle: (call) => {
      const { router } = queryOf(TRADEOFF, call);
      const { name, view, recent, config } = routerNamed(call.gateway.serving(), router);
      return tradeoffCurve(name, view, recent.all, config.cost_quality_tradeoff);
    },
  },
  {
    method: "GET",
    path: "/v1/learning",
    summary: "Regret, win rate and shares of models over time, by what is believed now.",
    scope: "route",
    query: WINDOW,
    answer: "Stretches of requests, the oldest first, with 95% bands.",
    refusals: [404, 503],
    handle: async (call) => {
      const { router, hours } = queryOf(WINDOW, call);
      await logged(call.gateway.log);
      const { store, clock, serving } = call.gateway;
      const { name, view } = routerNamed(serving(), router);
      return learningCurve(store, name, view, windowOf(hours, clock.date()));
    },
  },
  {
    method: "GET",
    path: "/v1/map",
    summary: "Recent prompts as points of a plane, near each other where they are alike.",
    scope: "route",
    query: MAP,
    answer: "Points with their decisions, and where the categories are.",
    refusals: [404, 503],
    handle: (call) => {
      const { router, limit } = queryOf(MAP, call);
      const owner = call.caller.isAdmin ? undefined : call.caller.owner;
      const { store, serving } = call.gateway;
      const { name, view } = routerNamed(serving(), router);
      return promptMap(store, name, view, owner, limit);
    },
  },
  {
    method: "GET",
    path: "/v1/sandbox/truth",
    summary: "What is true in the sandbox: each model's quality and cost on each kind.",
    scope: "route",
    answer: "The table.",
    refusals: [404],
    handle: ({ gateway }) => truth(sandboxOf(gateway)),
  },
  {
    method: "GET",
    path: "/v1/sandbox/voters",
    summary: "The simulated voters.",
    scope: "route",
    answer: "Whether they vote, how often, and how many votes they have cast.",
    refusals: [404],
    handle: ({ gateway }) => {
      sandboxOf(gateway);
      return gateway.voters.state;
    },
  },
  {
    method: "POST",
    path: "/v1/sandbox/voters",
    summary: "Lets the simulated voters vote, or stops them.",
    scope: "admin",
    body: VOTERS,
    answer: "As they are now.",
    refusals: [404],
    handle: (call) => {
      sandboxOf(call.gateway);
      const { on, votes_per_minute, voters } = bodyOf(VOTERS, call);
      call.gateway.voters.set({
        ...(on !== undefined && { on }),
        ...(votes_per_minute !== undefined && { votes_per_minute }),
        ...(voters !== undefined && { voters }),
      });
      return call.gateway.voters.state;
    },
  },
];

function sandboxOf({ serving }: ServerParts): Sandbox {
  const { sandbox } = serving();
  if (sandbox) return sandbox;
  throw new HttpError(404, "no model here is the sandbox's", {
    hint: "start joust without keys and models",
    code: "no_sandbox",
  });
}

function truth({ profile }: Sandbox): object {
  const { models, kinds } = profile;
  return {
    object: "truth",
    kinds,
    models: models.map((model) => ({
      model,
      quality: kinds.map((kind) => profile.quality(model, kind)),
      cost: kinds.map((kind) => profile.cost(model, kind)),
    })),
  };
}
