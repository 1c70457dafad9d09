import { z } from "zod";
import { Band, Id, Shares, Timestamp, type Value } from "./common.ts";

/**
 * Place that manages the configuration. Only a configuration in the store can be changed over HTTP.
 */
const Manager = z
  .enum(["store", "file", "program"])
  .describe(
    "`store`: it is changed with these endpoints. `file`: it is changed in joust.yaml. `program`: by the program that started the gateway.",
  );

const Entries = z.record(z.string(), z.looseObject({}));
const Sections = z.object({
  providers: Entries,
  models: Entries,
  routers: Entries,
  metrics: Entries,
});

export const Configuration = z
  .object({
    object: z.literal("configuration"),
    managed_by: Manager,
    file: z.string().optional().describe("Path of the file."),
    revision: z.int().describe("Revision in the store; 0 if nobody has changed anything yet."),
    invalid: z
      .object({
        revision: z.int().describe("The newest revision, which cannot be served; 0 for a file."),
        served: z
          .int()
          .describe(
            "The revision that is served; `document` and `effective` are its content. 0 for a file.",
          ),
        problem: z.string(),
        hint: z.string(),
      })
      .optional()
      .describe(
        "Why the newest revision, or the file as it is now, is not served. The configuration before it stays in use.",
      ),
    next_steps: z
      .array(z.string())
      .describe("Steps that are left to do, such as adding a model of a provider that has none."),
    can_store_secrets: z
      .boolean()
      .describe("False if several nodes share the database and `JOUST_STORE_KEY` is not set."),
    from: z
      .enum(["store", "file", "program", "environment", "sandbox"])
      .describe(
        "Source of the models: the place that manages the configuration (as in `managed_by`) if it names models or providers that are served, otherwise keys in the environment or the sandbox.",
      ),
    kept_secrets: z
      .array(z.string())
      .optional()
      .describe(
        "Only in the response of a revert: fields whose secret was replaced after that revision and keeps its new value, such as `providers.mine.key`.",
      ),
    document: Sections.describe("The configuration as it was written. Secrets are placeholders."),
    effective: Sections.describe("The same with the defaults of all settings."),
  })
  .meta({ id: "Configuration", description: "The configuration without its secrets." });
export type Configuration = Value<typeof Configuration>;

const Based = z
  .int()
  .min(0)
  .describe(
    "Revision that the change is based on. If another one was saved since, the status is 409.",
  );

/** Whether every object of JavaScript has a member of this name, so that no entry can be told apart from it. */
export function isMemberOfAll(name: string): boolean {
  return name in {};
}

/** Name of an entry of the configuration in a request. */
export const EntryName = z
  .string()
  .regex(/^[\w.:/@-]{1,200}$/, "must be letters, digits and . _ : / @ -")
  .refine((name) => !isMemberOfAll(name), "is reserved: choose another name");

export const ConfigurationChange = z.object({
  section: z.enum(["providers", "models", "routers", "metrics"]),
  name: EntryName,
  value: z
    .looseObject({})
    .nullable()
    .describe(
      "The entry as in joust.yaml; null removes it. A secret is sent as it is. A stored secret of the entry stays if its member is left out or is its placeholder; null in its place removes it. If the address of the provider changes to another origin, its secrets must be sent again.",
    ),
});
export type ConfigurationChange = Value<typeof ConfigurationChange>;

export const ChangeRequest = z.object({
  based_on: Based,
  changes: z.array(ConfigurationChange).min(1).max(50),
});
export const RevertRequest = z.object({
  based_on: Based,
  revision: z.int().min(0).describe("Revision whose content becomes the newest one."),
});

export const AuditRecord = z
  .object({
    id: z.string(),
    at: Timestamp,
    actor: z
      .string()
      .nullable()
      .describe(
        "Name of the API key, or `command line` for a change by a command; null on a gateway without keys.",
      ),
    action: z.string(),
    target: z.string(),
    revision: z.int().optional(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .meta({
    id: "AuditRecord",
    description:
      "A change that an operator made, or a test of a provider with stored secrets. Secrets are placeholders.",
  });
export type AuditRecord = Value<typeof AuditRecord>;

export const AuditQuery = z.object({
  before: Id.optional().describe("Id of the last record of the previous page."),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const AuditList = z.object({ object: z.literal("list"), data: z.array(AuditRecord) });

export const PreviewRequest = z.object({ changes: ChangeRequest.shape.changes });

const Effect = z.object({
  shares: Shares.describe("Share of the requests that each model answers."),
  cost: z
    .number()
    .nullable()
    .describe("Expected US dollars per request; null if a price is unknown."),
  unanswered: z.int().describe("Requests that no model of the pool could have answered."),
});
const RouterPreview = z
  .object({
    router: z.string(),
    requests: z.int().describe("Requests of the last seven days that were used, at most 1,000."),
    left_out: z
      .int()
      .describe(
        "Requests among the newest 1,000 of that time that could not be used: of another encoder, answered by a model that has left the pool, or stored only in part.",
      ),
    before: Effect.nullable().describe("With the present settings; null without requests."),
    after: Effect.nullable(),
    quality: Band.nullable().describe(
      "Change of the mean utility of the answers, with its 95% interval; null if it is unknown.",
    ),
    notes: z.array(z.string()).describe("Effects that the numbers leave out."),
  })
  .meta({
    id: "RouterPreview",
    description: "Effect of a change on the requests of the last week.",
  });
export type RouterPreview = Value<typeof RouterPreview>;
export const Preview = z.object({
  object: z.literal("preview"),
  routers: z.array(RouterPreview).describe("Routers that the change concerns."),
});
