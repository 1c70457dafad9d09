import { z } from "zod";
import type { Value } from "./common.ts";
import { Configuration, EntryName } from "./configuration.ts";
import { ListedModel } from "./model.ts";

export const ProviderList = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      name: z.string(),
      url: z.string().describe("Address; names in braces are settings."),
      in_environment: z
        .boolean()
        .describe("Whether the environment has a key or an address for it."),
      is_local: z.boolean().describe("Whether it needs no key."),
      settings: z.array(z.string()).describe("Settings that the address needs."),
      models: z.array(z.string()).describe("Models that are served if none are named."),
    }),
  ),
});

export const CatalogQuery = z.object({
  provider: z.string().min(1).max(200).describe("Name of a known provider."),
});
export const CatalogList = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      model: z.string(),
      price: ListedModel.shape.price,
      capabilities: ListedModel.shape.capabilities,
    }),
  ),
});

export const TestRequest = z.object({
  name: EntryName.describe("Name of the provider."),
  value: z
    .looseObject({})
    .optional()
    .describe(
      "The provider as in joust.yaml. Its stored secrets are used as in a change of the configuration. Without it, the provider is tested as it is configured.",
    ),
  models: z.array(z.string().min(1).max(200)).max(20).optional().describe("Names at the provider."),
});

const Step = z
  .object({
    what: z.enum(["address", "key", "model"]),
    model: z.string().optional(),
    ok: z.boolean(),
    detail: z.string().describe("What happened and, if it failed, what to do."),
    ms: z.number().optional(),
  })
  .meta({ id: "ProviderTestStep", description: "A part of the test of a provider." });

export const ProviderTest = z
  .object({
    object: z.literal("provider_test"),
    provider: z.string(),
    ok: z.boolean().describe("Whether at least one model answered."),
    steps: z.array(Step),
  })
  .meta({
    id: "ProviderTest",
    description: "Results of a short request to each model of a provider.",
  });
export type ProviderTest = Value<typeof ProviderTest>;

export const SetupRequest = z.object({
  based_on: z.int().min(0).describe("Revision that the change is based on."),
  key: z.string().min(1).max(1024).describe("Key of a provider."),
  provider: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Name of the known provider; by default it is recognised by the form of the key."),
});
export const SetupResult = z.object({
  object: z.literal("setup"),
  test: ProviderTest,
  models: z.array(z.string()).describe("Models that are served now; empty if nothing was saved."),
  configuration: Configuration,
});
