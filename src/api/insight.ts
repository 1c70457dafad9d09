import { z } from "zod";
import { Band, RouterName, Shares, Timestamp, type Value } from "./common.ts";

export const TradeoffQuery = z.object({ router: RouterName.optional() });

const TradeoffPoint = z.object({
  tradeoff: z.number(),
  cost_weight: z
    .number()
    .describe("Quality that is given up to save the price of the most expensive model."),
  lambda: z
    .number()
    .meta({ deprecated: true })
    .describe("Former name of `cost_weight`. `lambda` of a decision is the quality per US dollar."),
  shares: Shares.describe("Shares of the recent queries, by the model that would answer."),
  quality: Band.partial({ lo: true, hi: true }).describe("Relative to the mean of the pool."),
  wins: Band.nullable().describe(
    "Share of comparisons with the pool's average that are won; a tie is half a win.",
  ),
  cost: z.number().nullable().describe("US dollars per request; null if prices are unknown."),
});
export type TradeoffPoint = Value<typeof TradeoffPoint>;

export const Tradeoff = z
  .object({
    object: z.literal("tradeoff"),
    router: z.string(),
    current: z.number().describe("Present setting of the router."),
    posterior_version: z.number(),
    recent_queries: z.number(),
    advantage: Band.extend({
      over: z.string().describe("The best single model."),
      sure: z
        .number()
        .describe("Probability that routing is worth at least as much as that model."),
    })
      .nullable()
      .describe("Worth of routing compared with one model for all queries."),
    points: z.array(TradeoffPoint),
    singles: z
      .array(
        z.object({
          model: z.string(),
          cost: z.number().nullable().describe("US dollars per request."),
          wins: Band.nullable().describe("As in `points`."),
          beaten: Band.nullable().describe(
            "Share of comparisons that routing wins against this model at the current setting.",
          ),
        }),
      )
      .describe("Each model that could answer all recent queries alone."),
  })
  .meta({ id: "Tradeoff", description: "Quality and cost at each `cost_quality_tradeoff`." });
export type Tradeoff = Value<typeof Tradeoff>;

export const LearningCurve = z
  .object({
    object: z.literal("learning"),
    router: z.string(),
    posterior_version: z.number(),
    stretches: z.array(
      z.object({
        from: Timestamp,
        to: Timestamp,
        requests: z.number(),
        shares: Shares.describe("Shares of the models that answered."),
        regret: Band,
        fallen: Band.extend({
          sure: z.number().describe("Probability that regret is lower."),
        }).describe("Reduction of regret since the first stretch of the window."),
        win_rate: Band,
      }),
    ),
  })
  .meta({ id: "LearningCurve", description: "Regret over time, judged by the current posterior." });
export type LearningCurve = Value<typeof LearningCurve>;

export const MAP_POINTS = 400;

export const MapQuery = z.object({
  router: RouterName.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(MAP_POINTS),
});

const MapPoint = z.object({
  id: z.string().describe("Id of the decision."),
  at: Timestamp,
  x: z.number(),
  y: z.number(),
  category: z.string(),
  duel: z.boolean(),
  models: z.array(z.string()).optional(),
});
export type MapPoint = Value<typeof MapPoint>;

export const PromptMap = z
  .object({
    object: z.literal("map"),
    router: z.string(),
    categories: z.array(z.object({ category: z.string(), x: z.number(), y: z.number() })),
    points: z.array(MapPoint),
  })
  .meta({
    id: "PromptMap",
    description: "Recent prompts in a plane, similar ones close together.",
  });
export type PromptMap = Value<typeof PromptMap>;
