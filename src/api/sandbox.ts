import { z } from "zod";
import type { Value } from "./common.ts";

export const Truth = z
  .object({
    object: z.literal("truth"),
    categories: z.array(z.string()),
    visible: z
      .number()
      .describe("Part of a difference in quality that votes show, because voters err sometimes."),
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
});

export const Voters = z
  .object({
    on: z.boolean(),
    votes_per_minute: z.number(),
    voters: z.number(),
    cast: z.number().describe("Votes cast so far."),
    failed: z.number(),
  })
  .meta({ id: "Voters", description: "State of the simulated voters." });
export type Voters = Value<typeof Voters>;
