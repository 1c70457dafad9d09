import { z } from "zod";
import { Model, RoutingNote, RoutingOptions } from "./chat.ts";
import { Id, type Value } from "./common.ts";

/** Requests of OpenAI's Responses API, as far as the gateway reads them; the rest is passed on. */

const Part = z.looseObject({ type: z.string() });

const InputItem = z
  .looseObject({
    type: z.string().nullish().describe("A message by default."),
    role: z.string().optional(),
    content: z.union([z.string(), z.array(Part)]).nullish(),
  })
  .describe("An item as OpenAI defines it.");

export const ResponsesRequest = z
  .looseObject({
    model: Model,
    input: z.union([z.string(), z.array(InputItem)]).nullish(),
    instructions: z.string().nullish(),
    stream: z.boolean().nullish(),
    store: z.boolean().nullish(),
    background: z.boolean().nullish(),
    previous_response_id: z.string().nullish(),
    tools: z.array(Part).nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    joust: RoutingOptions.nullish(),
  })
  .describe("OpenAI's request for a response, with options for the router in `joust`.");
export type ResponsesRequest = Value<typeof ResponsesRequest>;

/** A note in a duel also has the second answer. */
const ResponsesNote = RoutingNote.extend({
  second: z
    .looseObject({})
    .optional()
    .describe("The second answer of a duel, which is also a response."),
});

export const ResponseObject = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    status: z.string().optional(),
    model: z.string().optional(),
    output: z.array(Part),
    store: z
      .boolean()
      .nullish()
      .describe("Whether the response can be read and continued by its id."),
    joust: ResponsesNote.optional(),
  })
  .meta({ id: "Response", description: "OpenAI's response." });

export const ResponseEvent = z
  .looseObject({
    type: z.string(),
    response: z.looseObject({ joust: ResponsesNote.optional() }).optional(),
  })
  .meta({
    id: "ResponseEvent",
    description: "Data of one server-sent event of a streamed response.",
  });

export const ResponseParams = z.object({ id: Id.describe("Id of the response.") });

export const ResponseQuery = z.object({
  stream: z.enum(["true", "false"]).optional().describe("Whether to get the response as events."),
  starting_after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe("Number of the last event that the client already has."),
});

export const DeletedResponse = z.object({
  id: z.string(),
  object: z.literal("response"),
  deleted: z.literal(true),
});

export const InputItemsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional().describe("Id of the last item of the page before."),
});

export const InputItems = z
  .looseObject({
    object: z.literal("list"),
    data: z.array(z.looseObject({ id: z.string().optional(), type: z.string() })),
    first_id: z.string().nullish(),
    last_id: z.string().nullish(),
    has_more: z.boolean(),
  })
  .meta({ id: "InputItems", description: "Items of the conversation before a response." });
