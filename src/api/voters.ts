import { z } from "zod";
import { Band, Timestamp, type Value } from "./common.ts";

/** Name of a voter. Votes without a name have the empty name. */
const VoterName = z.string().max(256);

export const VotersQuery = z.object({
  from: VoterName.optional().describe(
    "Name with which the page starts: `next` of the page before.",
  ),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});

export const Voter = z
  .object({
    voter: VoterName.describe(
      "Name as in the log. It starts with the id of the API key if one was used. Empty for all votes without a name.",
    ),
    kind: z.enum(["person", "unnamed", "judge", "signal"]),
    votes: z.int().describe("Number of votes in the log, without comments, counted up to 10,000."),
    first_vote_at: Timestamp.nullable(),
    last_vote_at: Timestamp.nullable(),
    weight: z
      .number()
      .describe(
        "Weight that an operator has given to the voter, from 0 (excluded) to 1 (the default).",
      ),
    weight_set_at: Timestamp.nullable().describe("Time at which an operator last set the weight."),
    reliability: z
      .number()
      .nullable()
      .describe(
        "How much a vote of this person counts in the estimate of the learner, from 0 to 1. The weight multiplies it. Null if the router does not weigh voters (`weigh_voters`), for judges and for signals.",
      ),
    agreement: z
      .object({
        votes: z.int().describe("Votes that were compared with the router's own estimate."),
        share: z.number().describe("Share of these votes that agreed with the router."),
      })
      .nullable()
      .describe("Votes from which the reliability was estimated; null without any."),
    scale: Band.nullable().describe(
      "For a judge or a signal: how closely its votes follow those of people (see `voters[]` of GET /v1/stats); null for people.",
    ),
  })
  .meta({ id: "Voter", description: "A voter of a router, and how the learner judges the voter." });
export type Voter = Value<typeof Voter>;

export const VoterList = z.object({
  object: z.literal("list"),
  router: z.string(),
  weigh_voters: z.boolean().describe("Whether the learner estimates the reliability of people."),
  frozen_at: Timestamp.nullable().describe(
    "Time since which learning is frozen; null while votes are learned.",
  ),
  data: z.array(Voter),
  next: VoterName.nullable().describe(
    "Name with which the next page starts; null on the last page.",
  ),
});
export type VoterList = Value<typeof VoterList>;

export const WeighRequest = z.object({
  voter: VoterName,
  weight: z
    .number()
    .min(0)
    .max(1)
    .describe(
      "Weight of all votes of the voter, earlier and later ones. 0 excludes the voter, 1 is the default.",
    ),
});
export const Weighed = z.object({
  router: z.string(),
  voter: VoterName,
  weight: z.number(),
  before: z.number().describe("The weight before the request."),
});
