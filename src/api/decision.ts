import { z } from "zod";
import { Fallback, Id, Mode, Shares, Timestamp, type Value } from "./common.ts";

const Amount = z.coerce.number().min(0).optional();

/** Conditions of a search. All of them must hold; those on answers must hold for one answer together. */
const FILTERS = {
  router: Id.optional().describe("Name of the router; all routers by default."),
  session_id: z.string().max(256).optional(),
  key: Id.optional().describe(
    "Id of the API key. Only a key with the scope `admin` sees others' requests.",
  ),
  since: Timestamp.optional().describe("Earliest time of the request."),
  until: Timestamp.optional().describe("Latest time of the request."),
  model: Id.optional().describe("Model that answered."),
  outcome: z
    .enum(["ok", "failed", "cancelled", "fallback"])
    .optional()
    .describe("How an answer ended. `fallback`: complete, after another model had failed."),
  min_cost: Amount.describe("Lowest cost of an answer in US dollars."),
  max_cost: Amount.describe("Highest cost of an answer in US dollars."),
  min_latency_ms: Amount.describe("Shortest time until the end of an answer."),
  max_latency_ms: Amount.describe("Longest time until the end of an answer."),
  vote: z
    .enum(["any", "none", "first", "second", "tie", "both_bad", "good", "bad", "comment"])
    .optional()
    .describe("Votes on the request: the winner of a duel, or a rating that is good or bad."),
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      "Text of the prompt, in upper or lower case. Finds prompts that are stored without encryption.",
    ),
};

export const ExportQuery = z.object({
  ...FILTERS,
  format: z.enum(["csv", "json"]).default("csv"),
  limit: z.coerce.number().int().min(1).max(100_000).default(10_000),
});

export const DecisionsQuery = z.object({
  ...FILTERS,
  before: z
    .string()
    .regex(/^\d{1,16}\..{1,256}$/, "must be `next` of the previous page")
    .optional()
    .describe("`next` of the previous page."),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const DecisionParams = z.object({
  id: Id.describe("Id of the decision or of its answer, or the id that the client chose."),
});

const Score = z.object({
  model: z.string(),
  value: z.number().optional().describe("Expected quality relative to the mean of the pool."),
  uncertainty: z.number().optional().describe("Standard deviation of `value`."),
  cost: z.number().optional().describe("Expected cost in US dollars, prompt caches included."),
  cost_basis: z
    .object({
      prompt_tokens: z.number(),
      cached_tokens: z.number().describe("Tokens of the prompt that probably come from a cache."),
      output_tokens: z.number().describe("Mean length of this model's answers to such prompts."),
    })
    .optional()
    .describe("Tokens that `cost` is based on."),
  net: z
    .number()
    .optional()
    .describe("`value` - `lambda` * `cost`, the number that the router compares."),
});
export type Score = Value<typeof Score>;

/** Members that explain a decision. A duel hides them until somebody has voted. */
const Explanation = z.object({
  chosen: z.array(z.string()).describe("Models that the router chose."),
  scores: z.array(Score).describe("One per candidate, except for `omitted` ones."),
  omitted: z
    .number()
    .optional()
    .describe("Number of candidates of a large pool whose scores were not stored."),
  runner_up: z.string().optional().describe("The best of the other models."),
  win_probability: z
    .number()
    .optional()
    .describe("Probability that a vote prefers the first choice to `runner_up`."),
  propensity: z.number().describe("Probability with which the policy made this choice."),
  seed: z.number(),
  lambda: z.number().describe("Quality that one US dollar is worth in this request."),
  tradeoff: z.number().optional(),
  categories: Shares.optional().describe("Shares of the categories that the prompt belongs to."),
  excluded: z
    .record(z.string(), z.string())
    .optional()
    .describe("Reasons why models were not candidates, by model."),
  kept: z
    .object({
      model: z.string(),
      because: z.enum(["tools", "session"]),
      gain: z.number().optional(),
      margin: z.number().optional(),
    })
    .optional()
    .describe("The model of the session, if the session kept it."),
  guard: z.string().optional().describe("The fixed model that the guard serves."),
  observed: z
    .object({ pair: z.array(z.string()), propensity: z.number() })
    .optional()
    .describe("The policy's choice in mode `observe`, in which the fallback model answers."),
  duel_reason: z
    .enum(["requested", "auto", "later", "capped", "not_possible"])
    .optional()
    .describe(
      "Why there was a duel, or why a requested duel did not take place. `later`: the key or the router wanted it, and the second answer can be fetched.",
    ),
  encoder_failed: z.boolean().optional(),
  reasons: z.array(z.string()).describe("The explanation in sentences."),
});
export type Explanation = Value<typeof Explanation>;

const HEAD = {
  object: z.literal("decision"),
  id: z.string(),
  router: z.string(),
  mode: Mode,
  duel: z.boolean(),
  posterior_version: z.number(),
};

/** Response of POST /v1/route. */
export const RouteDecision = z
  .object({
    ...HEAD,
    model: z.string(),
    models: z.array(z.string()),
    ...Explanation.shape,
    client_id: z
      .string()
      .optional()
      .describe("The id that the client chose. Missing if the database did not answer in time."),
    vote_token: z.string().optional(),
  })
  .meta({ id: "RouteDecision", description: "A decision without an answer." });
export type RouteDecision = Value<typeof RouteDecision>;

const DecisionAnswer = z.object({
  slot: z.number().describe("0 for the first answer shown, 1 for the second."),
  status: z.enum(["ok", "failed", "cancelled"]),
  model: z.string().optional(),
  at: Timestamp.optional(),
  input_tokens: z.number().optional(),
  output_tokens: z.number().optional(),
  cost: z.number().optional().describe("US dollars."),
  latency_ms: z.number().optional(),
  first_byte_ms: z.number().optional(),
  fallbacks: z.array(Fallback).optional(),
  error: z.string().optional().describe("Why the answer failed."),
  text: z.string().optional().describe("The answer, if the gateway has stored it."),
});
export type DecisionAnswer = Value<typeof DecisionAnswer>;

export const VOTE_CONTENT = {
  outcome: z.enum(["a", "b", "tie", "both_bad"]).optional(),
  rating: z.number().optional(),
  slot: z.number().optional(),
  ranking: z.array(z.string()).optional(),
};

export const VoteSource = z.enum(["user", "judge", "import", "signal"]);

export const Decision = z
  .object({
    ...HEAD,
    at: Timestamp,
    session_id: z.string().optional(),
    key: z.string().optional().describe("Id of the API key that sent the request."),
    votes: z.array(
      z.object({
        ...VOTE_CONTENT,
        metric: z
          .object({ name: z.string(), value: z.union([z.boolean(), z.number()]) })
          .optional()
          .describe("The declared metric that `rating` comes from."),
        comment: z.string().optional().describe("Text of the voter. Nothing is learned from it."),
        source: VoteSource,
        weight: z.number().optional().describe("Weight of this kind of vote."),
        at: Timestamp,
        position: z
          .number()
          .describe("Position in the log. A posterior of this version or later has learned it."),
      }),
    ),
    answers: z.array(DecisionAnswer),
    hidden: z.string().optional().describe("Present while a duel waits for its vote."),
    models: z.array(z.string()).optional().describe("Models that answered, in the order shown."),
    ...Explanation.partial().shape,
    prompt: z.string().optional().describe("Only if the operator stores prompts."),
    now: z
      .object({ posterior_version: z.number(), win_probability: z.number() })
      .optional()
      .describe("Estimate of the newest posterior for the same two models."),
  })
  .meta({ id: "Decision", description: "A decision with its explanation, answers and votes." });
export type Decision = Value<typeof Decision>;

export const DecisionPage = z
  .object({
    object: z.literal("list"),
    data: z.array(Decision),
    next: z
      .string()
      .optional()
      .describe("Value of `before` that continues the search, also after a page that is not full."),
    searched_to: Timestamp.optional().describe(
      "Time back to which requests were examined, if the search is not complete.",
    ),
  })
  .describe("Decisions, newest first.");
export type DecisionPage = Value<typeof DecisionPage>;
