import { z } from "zod";
import { Id, Timestamp, type Value } from "./common.ts";
import { SCOPES } from "./scopes.ts";

export const RouterParams = z.object({ router: Id.describe("Name of the router.") });

export const ThawRequest = z.object({
  learn: z
    .boolean()
    .default(true)
    .describe("Whether votes that were cast during the freeze are learned now."),
});
export const RollbackRequest = z
  .object({
    to: Timestamp.optional().describe("Everything learned from votes after this time is undone."),
    position: z
      .int()
      .min(0)
      .optional()
      .describe("Everything learned from votes after this position is undone."),
  })
  .refine(({ to, position }) => (to === undefined) !== (position === undefined), {
    message: "must have either to or position",
    path: ["to"],
  });
export const ForgetRequest = z.object({
  voter: Id.describe(
    "Name of the voter, as `GET /v1/admin/routers/{router}/voters` and `joust votes voters` list it.",
  ),
});

export const Frozen = z.object({ router: z.string(), frozen: z.boolean() });
export const RolledBack = z.object({
  router: z.string(),
  undone: z.number().describe("Number of votes."),
});
export const Forgotten = z.object({
  router: z.string(),
  forgotten: z.number().describe("Number of votes."),
});

const Duels = z.union([z.boolean(), z.literal("auto")]);
const Names = z.array(Id).min(1).max(1000);
const Models = Names.describe("Models that may answer requests of this key. Default: all.");
const Routers = Names.describe("Routers that requests of this key may name. Default: all.");

export const KeyParams = z.object({ id: Id.describe("Id or name of the key.") });

export const NewKey = z.object({
  name: z.string().regex(/^[\w.:/@-]{1,100}$/, "must be letters, digits and . _ : / @ -"),
  scopes: z.array(z.enum(SCOPES)).min(1).default(["route", "vote"]),
  budget: z.number().positive().optional().describe("US dollars per calendar month."),
  rate: z.number().positive().optional().describe("Requests per minute."),
  concurrent: z.int().positive().optional().describe("Concurrent requests on each node."),
  duels: Duels.optional().describe(
    "Whether requests of this key that did not ask for a duel also get a second answer, to be fetched later.",
  ),
  models: Models.optional(),
  routers: Routers.optional(),
});
export const KeyLimits = z.object({
  scopes: NewKey.shape.scopes.unwrap().optional(),
  budget: z.number().positive().nullish().describe("US dollars per calendar month."),
  rate: z.number().positive().nullish().describe("Requests per minute."),
  concurrent: z.int().positive().nullish().describe("Concurrent requests on each node."),
  duels: Duels.nullish(),
  models: Models.nullish(),
  routers: Routers.nullish(),
});
export const BudgetRequest = z.object({
  budget: z.number().positive().nullable().describe("US dollars per month; null for no limit."),
});
export const ConcurrentRequest = z.object({
  concurrent: z
    .int()
    .positive()
    .nullable()
    .describe("Concurrent requests on each node; null for `server.concurrent`."),
});

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    budget: z.number().optional(),
    rate: z.number().optional(),
    concurrent: z.int().optional(),
    duels: Duels.optional(),
    models: z.array(z.string()).optional(),
    routers: z.array(z.string()).optional(),
    spent: z.number().optional().describe("US dollars in this calendar month (UTC)."),
    created_at: Timestamp,
    revoked_at: Timestamp.optional(),
  })
  .meta({ id: "Key", description: "An API key without its secret." });
export type Key = Value<typeof Key>;

export const KeyList = z.object({ object: z.literal("list"), data: z.array(Key) });
export const KeyWithSecret = Key.extend({ secret: z.string().describe("Shown only here.") });
