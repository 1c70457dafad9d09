import { z } from "zod";

/** Type of the values that a schema describes, with all members read-only. */
export type Value<S extends z.ZodType> = ReadonlyDeep<z.output<S>>;

/** A type with all its members and elements read-only. */
export type ReadonlyDeep<T> = T extends object
  ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
  : T;

/** Control characters and halves of surrogate pairs, as escapes that every dialect of regular expressions knows. */
const UNPRINTABLE = "\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff";

/** String that can be stored unchanged and printed. */
export function printable(longest: number): z.ZodString {
  const pattern = new RegExp(`^[^${UNPRINTABLE}]{1,${longest}}$`, "u");
  return z.string().regex(pattern, `must be 1 to ${longest} printable characters`);
}

/** Id or name in a request. */
export const Id = printable(256);

export const RouterName = Id.describe("Name of the router; the first configured one by default.");

export const Timestamp = z.iso.datetime({ offset: true });

export const Mode = z
  .enum(["apply", "observe", "bypass"])
  .describe("Whether the router applies its decisions, only logs them, or does nothing.");

export const Shares = z.record(z.string(), z.number());

export const Band = z
  .object({ mean: z.number(), lo: z.number(), hi: z.number() })
  .meta({ id: "Band", description: "An estimate with its 95% interval." });
export type Band = Value<typeof Band>;

export const Fallback = z
  .object({
    model: z.string(),
    reason: z.string(),
    cost: z
      .number()
      .optional()
      .describe("US dollars, if the model reported usage before it failed."),
  })
  .meta({ id: "Fallback", description: "A model that failed before another one was called." });
export type Fallback = Value<typeof Fallback>;

export const Health = z.object({ status: z.literal("ok") });

export const Readiness = z.object({
  status: z.literal("ready"),
  store: z.enum(["up", "down"]).describe("Votes are refused while the store is down."),
});

export const ErrorFields = z.looseObject({
  message: z.string(),
  type: z.string().nullish(),
  param: z.string().nullish().describe("Member, parameter or header at fault."),
  code: z.union([z.string(), z.number()]).nullish(),
  hint: z.string().optional().describe("Advice on how to correct the error."),
});
export type ErrorFields = Value<typeof ErrorFields>;

export const ErrorBody = z.looseObject({ error: ErrorFields }).meta({
  id: "Error",
  description: "An error in OpenAI's shape. Errors of a provider are passed on as they are.",
});
