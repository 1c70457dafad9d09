import { z } from "zod";
import type { Value } from "./common.ts";

export const Truth = z
  .object({
    object: z.literal("truth"),
    categories: z.array(z.string()),
    visible: z
      .number()
      .describe(
        "Share of a difference in quality that votes show; below 1, because voters sometimes err.",
      ),
    models: z.array(
      z.object({
        model: z.string(),
        quality: z.array(z.number()).describe("One number per category."),
        cost: z.array(z.number()).describe("US dollars per answer, one number per category."),
      }),
    ),
  })
  .meta({ id: "Truth", description: "True quality and cost of the sandbox's models." });
export type Truth = Value<typeof Truth>;

export const VotersSettings = z.object({
  on: z.boolean().exactOptional(),
  votes_per_minute: z.number().min(1).max(6000).exactOptional(),
  voters: z.int().min(1).max(1000).exactOptional().describe("Number of simulated people."),
  stop_after: z
    .int()
    .min(1)
    .max(1_000_000)
    .exactOptional()
    .describe("Number of further votes after which the voters stop. Default: they go on."),
});

const Stage = z
  .object({
    votes: z.number().describe("Votes that had been cast at the start of the stage."),
    requests: z.number(),
    quality: z.number().describe("True share of right answers of the models that were chosen."),
    cost: z.number().describe("US dollars per request."),
    best_quality: z.number().describe("The same for `best_model` on the same questions."),
    best_cost: z.number(),
  })
  .meta({ id: "Stage", description: "Ordinary requests of simulated people in one stage." });
export type Stage = Value<typeof Stage>;

export const Voters = z
  .object({
    on: z.boolean(),
    votes_per_minute: z.number(),
    voters: z.number(),
    cast: z.number().describe("Votes cast so far."),
    failed: z.number(),
    stop_at: z.number().nullable().describe("Number of votes at which the voters stop."),
    best_model: z
      .string()
      .nullable()
      .describe("The best model of the sandbox, if one model answered everything."),
    stages: z
      .array(Stage)
      .describe("True quality and cost of routing, by the number of votes cast before."),
  })
  .meta({ id: "Voters", description: "State of the simulated voters." });
export type Voters = Value<typeof Voters>;
