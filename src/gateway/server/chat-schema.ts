import { z } from "zod";
import { JOUST_OPTIONS } from "../dialects/chat/joust-options.ts";

/** As much of OpenAI's requests as the gateway looks at; all else is passed on as it is. */

const MODEL = z
  .string()
  .min(1)
  .max(256)
  .describe("`auto` or another router routes; a model's own name goes straight to it.");

const MESSAGE = z
  .looseObject({
    role: z.string(),
    content: z
      .union([z.string(), z.null(), z.array(z.looseObject({ type: z.string() }))])
      .optional(),
  })
  .describe("As OpenAI has it.");

export const CHAT = z
  .looseObject({
    model: MODEL,
    messages: z.array(MESSAGE).min(1),
    stream: z.boolean().nullish(),
    n: z.int().min(1).max(128).nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    joust: JOUST_OPTIONS.nullish(),
  })
  .describe("OpenAI's chat completion, with the member `joust` for the router.");

export const COMPLETION = z
  .looseObject({
    model: MODEL,
    prompt: z.union([z.string(), z.array(z.string())]),
    stream: z.boolean().nullish(),
  })
  .describe("OpenAI's completion of the time before chats.");

export const EMBEDDING = z
  .looseObject({
    model: MODEL,
    input: z.union([z.string(), z.array(z.string())]),
  })
  .describe("OpenAI's embedding.");
