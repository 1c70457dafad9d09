import { z } from "zod";
import { ErrorFields, Fallback, Mode, printable, type Value } from "./common.ts";

/** Requests and responses of OpenAI's endpoints, as far as the gateway reads them; the rest is passed on. */

export const Model = z
  .string()
  .min(1)
  .max(256)
  .describe("Name of a router, such as `auto`, or of one model.");

/** Options of the router, one schema for each, since headers can set them too. */
export const ROUTING = {
  duel: z.union([z.boolean(), z.literal("auto")], 'must be false, "auto" or true'),
  cost_quality_tradeoff: z.number().min(0).max(10),
  allowed_models: z.array(z.string().min(1).max(256)).min(1).max(1000),
  session_id: printable(256),
  strict: z.boolean(),
  id: printable(128),
};

export const RoutingOptions = z.strictObject(
  {
    duel: ROUTING.duel
      .nullish()
      .describe("Two answers to vote on: never, when a vote teaches enough, or always."),
    cost_quality_tradeoff: ROUTING.cost_quality_tradeoff
      .nullish()
      .describe("From 0 (best quality) to 10 (lowest cost)."),
    allowed_models: ROUTING.allowed_models.nullish().describe("Only these models may answer."),
    session_id: ROUTING.session_id
      .nullish()
      .describe("Requests of one session stay with their model."),
    strict: ROUTING.strict
      .nullish()
      .describe("Send the request as it is, also to a model that refuses one of its parameters."),
    id: ROUTING.id
      .nullish()
      .describe("Id by which this key can vote on the answer. A key uses an id once."),
  },
  {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no "${(issue.keys[0] ?? "").slice(0, 64)}"`
        : undefined,
  },
);
export type RoutingOptions = Value<typeof RoutingOptions>;

const Message = z
  .looseObject({
    role: z.string(),
    content: z
      .union([z.string(), z.null(), z.array(z.looseObject({ type: z.string() }))])
      .optional(),
  })
  .describe("A message as OpenAI defines it.");

export const ChatRequest = z
  .looseObject({
    model: Model,
    messages: z.array(Message).min(1),
    stream: z.boolean().nullish(),
    n: z.int().min(1).max(128).nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    joust: RoutingOptions.nullish(),
  })
  .describe("OpenAI's chat completion request, with options for the router in `joust`.");
export type ChatRequest = Value<typeof ChatRequest>;

export const CompletionRequest = z
  .looseObject({
    model: Model,
    prompt: z.union([z.string(), z.array(z.string())]),
    stream: z.boolean().nullish(),
  })
  .describe("OpenAI's legacy completion request.");

export const EmbeddingRequest = z
  .looseObject({ model: Model, input: z.union([z.string(), z.array(z.string())]) })
  .describe("OpenAI's embedding request.");

const Adaptation = z
  .object({
    param: z.string().describe("Member of the request, in the dialect of the model's provider."),
    change: z.enum(["renamed", "dropped", "limited", "moved", "added"]),
    to: z.union([z.string(), z.number()]).optional().describe("New name, value or place."),
  })
  .meta({
    id: "Adaptation",
    description: "A change to a parameter that the model would have refused.",
  });

export const RoutingNote = z
  .object({
    decision_id: z.string(),
    id: z
      .string()
      .optional()
      .describe("The id that the client chose. Missing if the database did not answer in time."),
    router: z.string(),
    mode: Mode.optional().describe("Only if the router does not apply its decisions."),
    model: z.string().optional().describe("Model that answered; hidden in a duel until the vote."),
    fallbacks: z.array(Fallback).optional(),
    adapted: z
      .array(Adaptation)
      .optional()
      .describe("Changes to the request that this model needed."),
    cost: z.number().optional().describe("US dollars."),
    duel: z
      .union([z.boolean(), z.literal(["capped", "later"])])
      .optional()
      .describe(
        '`true`: the choices are a duel. `"later"`: a duel whose second answer can be fetched. `"capped"`: no duel, because their share is used up. `false`: no duel; `because` says why.',
      ),
    slot: z
      .number()
      .optional()
      .describe("1 if this is the second answer of a duel, fetched later."),
    because: z.string().optional(),
    vote_token: z
      .string()
      .optional()
      .describe(
        "Authorizes one vote on this decision without an API key. Missing only if the database did not answer and the embedding is too large for a token.",
      ),
  })
  .meta({ id: "RoutingNote", description: "Facts about how a request was routed." });
export type RoutingNote = Value<typeof RoutingNote>;

const Usage = z.looseObject({
  prompt_tokens: z.number().optional(),
  completion_tokens: z.number().optional(),
  total_tokens: z.number().optional(),
});

export const ChatCompletion = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.number(),
        message: z.looseObject({ role: z.string(), content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    ),
    usage: Usage.nullish(),
    joust: RoutingNote.optional(),
  })
  .meta({ id: "ChatCompletion", description: "OpenAI's chat completion; a duel has two choices." });
export type ChatCompletion = Value<typeof ChatCompletion>;

export const ChatChunk = z
  .looseObject({
    id: z.string().optional(),
    choices: z
      .array(
        z.looseObject({
          index: z.number(),
          delta: z
            .looseObject({
              content: z.string().nullish(),
              reasoning_content: z.string().nullish(),
            })
            .optional(),
          finish_reason: z.string().nullish(),
        }),
      )
      .optional(),
    usage: Usage.nullish(),
    joust: RoutingNote.partial()
      .optional()
      .describe(
        "In the first chunk (without `cost`) and in the chunk with the usage (with `cost`).",
      ),
    error: ErrorFields.optional().describe("Only in the last chunk of a stream that failed."),
  })
  .meta({
    id: "ChatChunk",
    description: "Data of one server-sent event of a streamed completion.",
  });
export type ChatChunk = Value<typeof ChatChunk>;

export const ModelResponse = z.looseObject({}).describe("The response of the model's provider.");
