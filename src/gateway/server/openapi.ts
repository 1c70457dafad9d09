import swagger from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import { type App, contract } from "./app.ts";

/** Adds GET /openapi.json, which describes all routes that are added after this call. */
export async function addOpenApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Joust",
        version,
        description: "A self-hosted LLM router that learns from duels.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
    transform: (document) => {
      const { schema, url } = jsonSchemaTransform(document);
      const { method } = document.route;
      const operationId = `${String(method).toLowerCase()}${url.replace(/[^a-z0-9]+/gi, "_")}`;
      return { schema: { ...schema, operationId }, url };
    },
    transformObject: (document) => {
      const described = jsonSchemaTransformObject(document);
      const { components } = described as { components?: { schemas?: object } };
      // Named schemas are used in responses only; their variants for requests are left out.
      const schemas = Object.entries(components?.schemas ?? {}).filter(
        ([name]) => !name.endsWith("Input"),
      );
      return { ...described, components: { ...components, schemas: Object.fromEntries(schemas) } };
    },
  });
  let description: string | undefined;
  app.get(
    "/openapi.json",
    contract({
      summary: "Describes the HTTP interface.",
      response: z.looseObject({}).describe("An OpenAPI 3.1 document."),
    }),
    (_, reply) => {
      description ??= JSON.stringify(app.swagger());
      reply.type("application/json; charset=utf-8").send(description as never);
    },
  );
}
