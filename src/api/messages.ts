import { z } from "zod";
import { Model, RoutingOptions } from "./chat.ts";
import type { Value } from "./common.ts";

/** Requests of Anthropic's Messages API, as far as the gateway reads them; the rest is passed on. */

const Block = z.looseObject({ type: z.string() });

const Message = z
  .looseObject({
    role: z.enum(["user", "assistant", "system"]),
    content: z.union([z.string(), z.array(Block)]),
  })
  .describe("A message as Anthropic defines it.");

/** Request to count the tokens of a prompt. */
export const CountTokensRequest = z
  .looseObject({
    model: Model,
    messages: z.array(Message).min(1),
    system: z.union([z.string(), z.array(Block)]).nullish(),
    tools: z.array(z.looseObject({ name: z.string().optional() })).nullish(),
  })
  .describe("Anthropic's request to count the tokens of a prompt.");
export type CountTokensRequest = Value<typeof CountTokensRequest>;

export const MessagesRequest = CountTokensRequest.extend({
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  joust: RoutingOptions.nullish(),
}).describe("Anthropic's request for a message, with options for the router in `joust`.");
export type MessagesRequest = Value<typeof MessagesRequest>;
