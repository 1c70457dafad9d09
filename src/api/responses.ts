import { z } from "zod";
import { Model, RoutingOptions } from "./chat.ts";
import type { Value } from "./common.ts";

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
