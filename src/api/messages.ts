import { z } from "zod";
import { Model, RoutingNote, RoutingOptions } from "./chat.ts";
import { ErrorFields, type Value } from "./common.ts";

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

export const TokenCount = z
  .looseObject({
    input_tokens: z.number(),
    joust: z
      .object({ estimated: z.literal(true) })
      .optional()
      .describe(
        "Set if no model that speaks Messages could count, so that the number is an estimate.",
      ),
  })
  .meta({ id: "TokenCount", description: "Tokens of a prompt." });

/** A note in a duel also has the second answer. */
const SECOND = z
  .looseObject({})
  .optional()
  .describe("The second answer of a duel, which is also a message.");

const MessagesNote = RoutingNote.extend({ second: SECOND });

export const MessageAnswer = z
  .looseObject({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(Block),
    stop_reason: z.string().nullish(),
    usage: z.looseObject({
      input_tokens: z.number().optional(),
      output_tokens: z.number().optional(),
    }),
    joust: MessagesNote.optional(),
  })
  .meta({ id: "Message", description: "Anthropic's message." });

export const MessageEvent = z
  .looseObject({
    type: z.string(),
    message: z.looseObject({ joust: RoutingNote.optional() }).optional(),
    joust: z
      .object({ cost: z.number().optional(), second: SECOND })
      .optional()
      .describe("Only in the event with the final usage, or in the error of a duel."),
  })
  .meta({
    id: "MessageEvent",
    description: "Data of one server-sent event of a streamed message.",
  });

export const MessagesError = z
  .looseObject({ type: z.literal("error"), error: ErrorFields })
  .meta({ id: "MessagesError", description: "An error in Anthropic's shape." });
