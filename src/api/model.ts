import { z } from "zod";
import { Id, type Value } from "./common.ts";

export const ModelParams = z.object({ id: Id.describe("Name of a router or model.") });

export const ListedModel = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.number(),
    owned_by: z.string().describe("`joust` for a router, otherwise the provider."),
    price: z
      .object({
        input: z.number(),
        output: z.number(),
        cached_input: z.number().optional(),
        cache_write: z.number().optional(),
        cache_write_1h: z.number().optional(),
      })
      .optional()
      .describe("US dollars per million tokens."),
    capabilities: z
      .object({
        context: z.number().optional().describe("Tokens."),
        vision: z.boolean().optional(),
        tools: z.boolean().optional(),
        json_schema: z.boolean().optional(),
      })
      .optional()
      .describe(
        "A router has the best of its models' capabilities. A capability that is not listed is assumed to exist.",
      ),
    disabled: z
      .literal(true)
      .optional()
      .describe("The model is configured, but answers no requests."),
    models: z.array(z.string()).optional().describe("Models of a router that answer requests."),
    deployments: z
      .array(
        z.object({
          name: z.string(),
          provider: z.string(),
          weight: z.number(),
          rpm: z.number().optional().describe("Limit of requests per minute."),
          tpm: z.number().optional().describe("Limit of tokens per minute."),
          state: z
            .enum(["closed", "open", "half-open"])
            .describe("Circuit breaker: it is open while the deployment is not called."),
        }),
      )
      .optional()
      .describe("Endpoints or keys behind the model, if there are several."),
  })
  .meta({ id: "Model", description: "A router or a model." });
export type ListedModel = Value<typeof ListedModel>;

export const ModelList = z
  .object({ object: z.literal("list"), data: z.array(ListedModel) })
  .describe("Routers and models.");
export type ModelList = Value<typeof ModelList>;
