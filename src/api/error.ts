import { z } from "zod";
import type { Value } from "./common.ts";

export const ErrorFields = z.looseObject({
  message: z.string(),
  type: z.string().nullish(),
  param: z.string().nullish().describe("Member, parameter or header at fault."),
  code: z.union([z.string(), z.number()]).nullish(),
  hint: z.string().optional().describe("What to do about it."),
});
export type ErrorFields = Value<typeof ErrorFields>;

export const ErrorBody = z.looseObject({ error: ErrorFields }).meta({
  id: "Error",
  description: "An error in OpenAI's shape. Errors of a provider are passed on as they are.",
});
