import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";

/** The interface described, from the same table that serves it. */
export function openApi(endpoints: readonly Endpoint[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const operation = { [endpoint.method.toLowerCase()]: operationOf(endpoint) };
    paths[endpoint.path] = { ...paths[endpoint.path], ...operation };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Joust",
      version,
      description: "A self-hosted LLM router that learns from duels.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: { Error: z.toJSONSchema(ERROR) },
    },
  };
}

const ERROR = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .describe("As OpenAI has it.");

function operationOf(endpoint: Endpoint): object {
  const { method, path, summary, scope, query, body, answer, type = "application/json" } = endpoint;
  const refusals = new Set([
    400,
    ...(scope ? [401, 403, 429, 503] : []),
    ...(path.includes("{") ? [404] : []),
    ...(endpoint.refusals ?? []),
  ]);
  const refused = { $ref: "#/components/schemas/Error" };
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^a-z0-9]+/gi, "_")}`,
    summary,
    ...(scope && { security: [{ key: [scope] }, {}] }),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: inputSchema(body) } },
      },
    }),
    responses: {
      200: { description: answer, content: { [type]: {} } },
      ...Object.fromEntries(
        [...refusals].map((status) => [
          status,
          {
            description: "Refused.",
            content: { "application/json": { schema: refused } },
          },
        ]),
      ),
    },
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1, maxLength: 256 },
  }));
}

function queryParameters(query: z.ZodObject | undefined): object[] {
  if (!query) return [];
  const { properties = {}, required = [] } = inputSchema(query) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function inputSchema(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}
