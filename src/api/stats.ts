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

/** Health of a model, from its recent calls and its circuit breaker. */
const Health = z.enum(["ok", "degraded", "down", "unknown"]);

const ModelCounts = z.object({
  model: z.string(),
  chosen: z.number().describe("Decisions that chose the model."),
  given: z.number().describe("Answers that clients received from the model."),
  share: z.number().nullable().describe("Share of the answers given; null if there are none."),
  duels: z.number(),
  calls: z
    .number()
    .describe("Answers and failures, including failures after which another model answered."),
  failures: z.number().describe("Calls that failed."),
  votes: z.number(),
  wins: z.number(),
  ties: z.number(),
  both_bad: z.number(),
  ratings: z.number(),
  mean_rating: z.number().nullable(),
  cost: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  mean_latency_ms: z.number().nullable(),
  p95_latency_ms: z
    .number()
    .nullable()
    .describe(
      "Time in which 95% of the answers were complete, on this node since its start. Interpolated between the limits of the histogram in `/metrics`.",
    ),
  health: Health.describe(
    "Health by the calls in the last 30 minutes: `ok` below 5% failures, `degraded` from 5% or while the circuit breaker is half-open, `down` from 50% or while it is open, `unknown` without calls.",
  ),
  breaker: z.enum(["closed", "open", "half-open"]).nullable(),
});
export type ModelCounts = Value<typeof ModelCounts>;

const SeriesPoint = z.object({
  at: Timestamp,
  requests: z.number(),
  duels: z.number(),
  votes: z.number(),
  cost: z.number(),
  given: Shares.describe("Number of answers that clients received, by model."),
});
export type SeriesPoint = Value<typeof SeriesPoint>;

const Alternative = z.object({
  model: z.string(),
  cost: z
    .number()
    .describe(
      "Estimated cost if this model had answered the same conversations, prompt caches included.",
    ),
  savings: z.number().describe("`cost` minus `compared`."),
  lo: z.number().describe("Lower end of the 95% interval of `savings`."),
  hi: z.number(),
});

const Spend = z.object({
  total: z.number(),
  compared: z.number().describe("The part of `total` that the alternatives are compared with."),
  by_model: z.record(z.string(), z.number()),
  requests: z.number(),
  cost_per_request: z.number(),
  learning: z
    .number()
    .describe(
      "Part of `total` that paid for learning, estimated by the mean cost of each model's answers: second answers of duels, and answers made for a judge. Verdicts of the judge belong to no router's `total`. Random choices are not part of it, because their answers are served.",
    ),
  always: z
    .array(Alternative)
    .describe(
      "Each model alone, if its price is known and it was in the pool during the whole comparison.",
    ),
  always_best: Alternative.extend({
    among: z
      .array(z.string())
      .describe("Smallest set of models that contains the best one with 95% probability."),
    among_lo: z
      .number()
      .describe("Lowest lower end of the intervals of the savings against these models."),
    among_hi: z
      .number()
      .describe("Highest upper end of the intervals of the savings against these models."),
  })
    .nullable()
    .describe("Comparison with the model that has the highest value."),
  always_cheapest: Alternative.nullable(),
});

const Quantiles = z
  .object({
    median: z.number().nullable(),
    lo: z.number().nullable().describe("Lower end of the 90% interval."),
    hi: z.number().nullable(),
  })
  .describe("Null stands for more than the horizon.");

const Forecast = z.object({
  verdict: z
    .enum(["now", "later", "never"])
    .describe("`never`: not within the horizon in most simulated futures."),
  sure: z.number().describe("Probability that routing beats the best single model now."),
  reached: z
    .number()
    .describe("Share of the simulated futures in which this probability reaches 95%."),
  votes: Quantiles.describe("Further votes until the probability is 95%."),
  dollars: Quantiles.nullable().describe("Cost of both answers of these duels."),
  horizon: z.number().describe("Votes after which a future was not continued."),
  futures: z.number(),
  learned: z.number().describe("Votes that the forecast starts from."),
  version: z.number().describe("Version of the posterior that it starts from."),
});

const Shadow = z.object({
  comparisons: z.number(),
  win_rate: Band.describe("Share of wins of the router's choice; a tie is half a win."),
  cost: Band.nullable().describe("US dollars per answer, router's choice minus served answer."),
  latency_ms: Band.nullable().describe("The same difference in milliseconds."),
});
export type Shadow = Value<typeof Shadow>;

const VoterKind = z
  .object({
    kind: z
      .string()
      .describe("`judge:` and the name of its model, `metric:` or `signal:` and a name."),
    votes: z.number(),
    scale: Band.describe(
      "How far its votes follow those of people: 0 not at all, 1 as closely as people's own.",
    ),
    first: Band.describe(
      "Logit by which the answer shown first is favoured; for metrics and signals, the logit of an average answer.",
    ),
    length: Band.nullable().describe(
      "Logit by which an answer is favoured that is 2.7 times as long as the other; null for metrics and signals.",
    ),
    own_family: Band.nullable().describe(
      "Logit by which answers of models of the judge's own family are favoured; null for metrics and signals.",
    ),
  })
  .meta({ id: "VoterKind", description: "Voters other than people, compared with people." });

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
      overall: z
        .array(Standing)
        .describe("Standings on the mix of categories that was voted on recently, best first."),
      categories: z.array(
        z.object({
          category: z.string(),
          share: z.number().describe("Share of the queries that were voted on recently."),
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
    forecast: Forecast.nullable().describe(
      "When routing will pay. Null until it is computed, which takes a while after the first request for it.",
    ),
    shadow: Shadow.nullable().describe(
      "Mode observe with a judge: the router's choices compared with the answers that were served, where they differ.",
    ),
    voters: z
      .array(VoterKind)
      .describe("Kinds of voters other than people. Empty if only people have voted."),
    models: z.array(ModelCounts),
    series: z.array(SeriesPoint),
    spend: Spend.describe("US dollars."),
    regret: Band.nullable().describe(
      "Quality lost to the best model for each query. Null without queries, or before the first vote if no scores were told; so are `win_rate` and `quality`.",
    ),
    win_rate: Band.nullable().describe("Probability of being preferred to a random candidate."),
    quality: Band.nullable().describe("Quality served, relative to the mean of the pool."),
  })
  .meta({ id: "Stats", description: "Numbers of one router." });
export type Stats = Value<typeof Stats>;
