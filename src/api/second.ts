import { z } from "zod";
import { ChatCompletion } from "./chat.ts";
import type { Value } from "./common.ts";
import { MessageAnswer } from "./messages.ts";
import { ResponseObject } from "./responses.ts";

export const SecondAnswer = z
  .union([ChatCompletion, ResponseObject, MessageAnswer])
  .describe("The second answer of a duel, complete, in the dialect of its request.");
export type SecondAnswer = Value<typeof SecondAnswer>;
