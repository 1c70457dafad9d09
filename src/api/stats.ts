import { z } from "zod";
import { Band, Mode, RouterName, Shares, Timestamp, type Value } from "./common.ts";

export const StatsQuery = z.object({
  router: RouterName.optional(),
  hours: z.coerce.number().min(1).max(8784).default(24).describe("Length of the window."),
});

const Standing = z
  .object({
    model: z.string(),
    value: z.number().describe("Quality relative to the mean of the pool."),
    sd: z.number().nullable(),
    lo: z.number().nullable().describe("Lower end of the 95% interval."),
    hi: z.number().nullable(),
    best: z.number().nullable().describe("Probability that this model is the best one."),
  })
  .meta({
    id: "Standing",
    description: "Quality of a model; the numbers are null if the policy has no uncertainty.",
  });
export type Standing = Value<typeof Standing>;

const ModelCounts = z.object({
  model: z.string(),
  shown: z.number(),
  duels: z.number(),
  answers: z.number(),
  failures: z.number(),
  votes: z.number(),
  wins: z.number(),
  ties: z.number(),
  both_bad: z.number(),
  ratings: z.number(),
  mean_rating: z.number().nullable(),
  cost: z.number(),
  mean_latency_ms: z.number().nullable(),
  breaker: z.enum(["closed", "open", "half-open"]).nullable(),
});
export type ModelCounts = Value<typeof ModelCounts>;

const SeriesPoint = z.object({
  at: Timestamp,
  requests: z.number(),
  duels: z.number(),
  votes: z.number(),
  cost: z.number(),
  shown: Shares.describe("Number of answers shown, by model."),
});
export type SeriesPoint = Value<typeof SeriesPoint>;

const Alternative = z.object({
  model: z.string(),
  cost: z.number().describe("Cost of the same tokens with this model alone."),
  savings: z.number().describe("That cost less what was spent."),
});

const Spend = z.object({
  total: z.number(),
  by_model: z.record(z.string(), z.number()),
  requests: z.number(),
  cost_per_request: z.number(),
  always_best: Alternative.extend({
    among: z
      .array(z.string())
      .describe("The fewest models of which one is the best with 95% probability."),
    lo: z.number().describe("Lowest savings against one of these."),
    hi: z.number().describe("Highest savings against one of these."),
  })
    .nullable()
    .describe("Against the model with the highest value."),
  always_cheapest: Alternative.nullable(),
});

export const Stats = z
  .object({
    object: z.literal("stats"),
    router: z.string(),
    mode: Mode,
    at: Timestamp,
    learner: z.boolean().describe("Whether this node learns from the votes of this router."),
    guard: z.string().nullable().describe("Model that is served while routing does worse."),
    warnings: z.array(z.string()).describe("Sentences for the operator."),
    tradeoff: z.number(),
    window: z.object({ from: Timestamp, hours: z.number(), step_seconds: z.number() }),
    posterior_version: z.number(),
    recent_queries: z.number(),
    leaderboard: z.object({
      overall: z.array(Standing).describe("Over the mix of recent queries, best first."),
      categories: z.array(
        z.object({
          category: z.string(),
          share: z.number().describe("Share of the recent queries."),
          models: z.array(Standing),
        }),
      ),
    }),
    counts: z.object({
      requests: z.number(),
      duels: z.number(),
      duel_rate: z.number(),
      answers: z.number(),
      failures: z.number(),
      votes: z.number(),
      ties: z.number(),
      both_bad: z.number(),
      ratings: z.number(),
      first_wins: z.number(),
      input_tokens: z.number(),
      output_tokens: z.number(),
    }),
    models: z.array(ModelCounts),
    series: z.array(SeriesPoint),
    spend: Spend.describe("US dollars."),
    regret: Band.nullable().describe("Quality lost to the best model for each query."),
    win_rate: Band.nullable().describe("Probability of being preferred to a random candidate."),
    quality: Band.nullable().describe("Quality served, relative to the mean of the pool."),
  })
  .meta({ id: "Stats", description: "Numbers of one router." });
export type Stats = Value<typeof Stats>;
