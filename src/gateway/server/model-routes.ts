import { ListedModel, ModelList, ModelParams } from "../../api/model.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { resolve, type Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";

export function addModelRoutes(app: App, serving: () => Serving): void {
  app.get(
    "/v1/models",
    contract({ summary: "Lists routers and models.", scope: "route", response: ModelList }),
    () => ({ object: "list" as const, data: listed(serving()) }),
  );
  app.get(
    "/v1/models/:id",
    contract({
      summary: "Shows one router or model.",
      scope: "route",
      params: ModelParams,
      response: ListedModel,
    }),
    ({ params }) => {
      const { name } = resolve(serving(), params.id);
      return listed(serving()).find(({ id }) => id === name)!;
    },
  );
}

function listed({ models, routers }: Serving): ListedModel[] {
  return [
    ...[...routers.keys()].map((name) => entry(name, "joust")),
    ...[...models.values()].map(modelEntry),
  ];
}

function modelEntry({ name, spec: { provider, price, capabilities } }: ServedModel): ListedModel {
  const { jsonSchema: json_schema, ...others } = capabilities;
  return {
    ...entry(name, provider),
    ...(price && { price: shownPrice(price) }),
    capabilities: { ...others, json_schema },
  };
}

function shownPrice({ input, output, cachedInput, cacheWrite }: Price) {
  return { input, output, cached_input: cachedInput, cache_write: cacheWrite };
}

function entry(id: string, owner: string): ListedModel {
  return { id, object: "model", created: 0, owned_by: owner };
}
