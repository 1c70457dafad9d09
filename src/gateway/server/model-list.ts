import type { ListedModel } from "../../api/model.ts";
import type { Caller } from "../access/access.ts";
import type { Capabilities } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Serving } from "../routing/serving.ts";

/** Routers and models that the caller may use, as /v1/models lists them. The pools of routers have no others either. */
export function listModels(
  { models, routers }: Serving,
  caller: Pick<Caller, "models" | "routers"> = {},
): ListedModel[] {
  const allowed = <T extends { readonly name: string }>(
    all: ReadonlyMap<string, T>,
    names: readonly string[] | undefined,
  ) => [...all.values()].filter(({ name }) => names?.includes(name) ?? true);
  return [
    ...allowed(routers, caller.routers).map((router) => {
      return routerEntry(router.name, allowed(router.models, caller.models));
    }),
    ...allowed(models, caller.models).map(modelEntry),
  ];
}

function routerEntry(name: string, models: readonly ServedModel[]): ListedModel {
  const pool = models.filter(({ spec }) => !spec.isDisabled);
  return {
    ...entry(name, "joust"),
    capabilities: jointCapabilities(pool.map(({ capabilities }) => capabilities)),
    models: pool.map((model) => model.name),
  };
}

/**
 * Capabilities of a pool. Each is the best among its models, because the router chooses a model that can serve
 * the request.
 */
function jointCapabilities(all: readonly Capabilities[]): Capabilities {
  const any = (name: "vision" | "tools" | "json_schema") => {
    const values = all.map((one) => one[name]);
    return values.includes(true) ? true : values.includes(undefined) ? undefined : false;
  };
  const contexts = all.map(({ context }) => context);
  const known = contexts.filter((context) => context !== undefined);
  return {
    context: known.length > 0 && known.length === contexts.length ? Math.max(...known) : undefined,
    vision: any("vision"),
    tools: any("tools"),
    json_schema: any("json_schema"),
  };
}

function modelEntry({ name, capabilities, deployments, spec }: ServedModel): ListedModel {
  const several = deployments.map(({ state, spec: own }) => {
    const { name: deployment, provider, weight, rpm, tpm } = own;
    return { name: deployment, provider, weight, rpm, tpm, state };
  });
  return {
    ...entry(name, spec.provider),
    ...(spec.price && { price: spec.price }),
    capabilities,
    ...(spec.isDisabled && { disabled: true }),
    ...(several.length > 1 && { deployments: several }),
  };
}

function entry(id: string, owner: string): ListedModel {
  return { id, object: "model", created: 0, owned_by: owner };
}
