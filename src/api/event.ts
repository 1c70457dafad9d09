import { z } from "zod";
import { Fallback, Shares, type Value } from "./common.ts";
import { VOTE_CONTENT, VoteSource } from "./decision.ts";

const HEAD = {
  id: z.string().describe("Id of the decision."),
  at: z.number().describe("Milliseconds since 1970."),
  router: z.string(),
};

const Deprecated = z
  .number()
  .optional()
  .meta({ deprecated: true, description: "Name of version 0.1; use the name in snake_case." });

/** Events of GET /v1/events: the schema of `data` by event name. */
export const EVENTS = {
  decision: z.object({
    ...HEAD,
    duel: z.boolean(),
    model: z.string().optional().describe("Missing in a duel."),
    version: z.number().describe("Version of the posterior."),
    categories: Shares.optional(),
  }),
  answer: z.object({
    ...HEAD,
    slot: z.number(),
    status: z.enum(["ok", "failed", "cancelled"]),
    model: z.string().optional().describe("This and the numbers are missing in a duel."),
    cost: z.number().optional(),
    input_tokens: z.number().optional(),
    output_tokens: z.number().optional(),
    latency_ms: z.number().optional(),
    first_byte_ms: z.number().optional(),
    fallbacks: z.array(Fallback).optional(),
    // The names of version 0.1.
    inputTokens: Deprecated,
    outputTokens: Deprecated,
    latencyMs: Deprecated,
    firstByteMs: Deprecated,
  }),
  vote: z.object({
    ...HEAD,
    ...VOTE_CONTENT,
    source: VoteSource,
    models: z.array(z.string()).optional(),
  }),
  posterior: z.object({ router: z.string(), version: z.number() }),
};

export const EventData = z
  .union(Object.values(EVENTS))
  .meta({ id: "EventData", description: "Data of one server-sent event." });

type EventOf<T extends keyof typeof EVENTS> = {
  readonly type: T;
  readonly data: Value<(typeof EVENTS)[T]>;
};
/** An event as a client receives it: its name and its data. */
export type FeedEvent = { [T in keyof typeof EVENTS]: EventOf<T> }[keyof typeof EVENTS];
