import type { Configuration } from "../../api/configuration.ts";
import type { Caller } from "../access/access.ts";
import { matches, specificity } from "../config/aliases.ts";
import type { Config } from "../config/config.ts";
import type { Peers } from "../peers/peers.ts";
import type { Used } from "../providers/deployment.ts";
import type { Placement } from "../providers/model-specs.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { HttpError } from "../wire/http-error.ts";
import type { LiveRouter } from "./live-router.ts";
import type { ReadNews } from "./prefixes.ts";

/** Models and routers of one configuration. Replaced as a whole when the configuration changes. */
export interface Serving {
  readonly config: Config;
  readonly from: Placement["from"];
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly routers: ReadonlyMap<string, LiveRouter>;
  /** The sandbox, if some of the models are its models. */
  readonly sandbox?: Sandbox | undefined;
}

type Allowed = Pick<Caller, "models" | "routers">;

/** The router or model that the member `model` of a request names. Errors name only what the key may use. */
export function resolve(caller: Allowed, serving: Serving, name: string): LiveRouter | ServedModel {
  const { routers, models } = serving;
  const found = routers.get(name) ?? models.get(name) ?? aliased(routers, name);
  if (found) return found;
  const known = namesFor(caller, serving);
  if (name === "") {
    throw new HttpError(400, "model is missing: it names a router or a model", {
      hint: `known names: ${known}`,
      code: "missing_value",
      param: "model",
    });
  }
  throw new HttpError(404, `the model \`${name}\` does not exist`, {
    hint: `known names: ${known}${aliasHint(caller, serving, name)}`,
    code: "model_not_found",
    param: "model",
  });
}

/** The first names of routers and models that a key may use. */
function namesFor(caller: Allowed, { routers, models }: Serving): string {
  const names = [
    ...[...routers.keys()].filter((router) => caller.routers?.includes(router) ?? true),
    ...[...models.keys()].filter((model) => caller.models?.includes(model) ?? true),
  ];
  return names.slice(0, 20).join(", ");
}

/** Model names that programs such as Claude Code send without being configured to. */
const FAMILIES = /^(claude|gpt|codex|gemini|grok)-/;

/** The setting that sends names of this family to a router; "" for other names. */
function aliasHint(caller: Allowed, { routers }: Serving, name: string): string {
  const [, family] = FAMILIES.exec(name) ?? [];
  const router = [...routers.keys()].find((one) => caller.routers?.includes(one) ?? true);
  if (family === undefined || router === undefined) return "";
  return `; to send such names to ${router}, add to the configuration (joust.yaml or POST /v1/admin/configuration): routers: {${router}: {aliases: ["${family}-*"]}}`;
}

/** The router or model that a request names, if its key may use it. Throws 403 otherwise. */
export function resolveFor(
  caller: Allowed,
  serving: Serving,
  name: string,
): LiveRouter | ServedModel {
  const found = resolve(caller, serving, name);
  const isRouter = serving.routers.get(found.name) === found;
  const allowed = isRouter ? caller.routers : caller.models;
  if (allowed?.includes(found.name) === false) {
    const known = namesFor(caller, serving);
    // The name may be an alias. The error does not name the router behind it.
    throw new HttpError(403, `this API key may not use \`${name}\``, {
      hint: known === "" ? NOTHING_HINT : `it may use ${known}`,
      code: "model_not_allowed",
      param: "model",
    });
  }
  if (serving.models.get(found.name)?.spec.isDisabled) {
    throw new HttpError(404, `the model \`${name}\` is disabled`, {
      hint: "use another model, or enable this one",
      code: "model_disabled",
      param: "model",
    });
  }
  return found;
}

const NOTHING_HINT =
  "it may use nothing that is served at present: ask the operator for a key with other models or routers";

/** The router with the most specific alias for the name. A common name is more specific than `*`. */
function aliased(routers: ReadonlyMap<string, LiveRouter>, name: string): LiveRouter | undefined {
  const common = AUTO.has(name) ? first(routers) : undefined;
  let best: { readonly router: LiveRouter; readonly rank: number } | undefined;
  for (const router of routers.values()) {
    for (const alias of router.config.aliases) {
      if (!matches(alias, name) || (common && specificity(alias) === 0)) continue;
      const rank = specificity(alias);
      if (!best || rank > best.rank) best = { router, rank };
    }
  }
  return best?.router ?? common;
}

/** Common names for a router. They mean the first router, unless a router or model has the name. */
const AUTO = new Set(["auto", "openrouter/auto", "joust"]);

function first(routers: ReadonlyMap<string, LiveRouter>): LiveRouter | undefined {
  return routers.values().next().value;
}

/** The router of this name, or the first one if there is no name. For a key with a list of routers, others do not exist. */
export function routerNamed(
  { routers }: Serving,
  name: string | undefined,
  caller: Pick<Caller, "routers"> = {},
): LiveRouter {
  const known = [...routers.keys()].filter((one) => caller.routers?.includes(one) ?? true);
  const router = known.includes(name ?? known[0] ?? "") && routers.get(name ?? known[0]!);
  if (router) return router;
  throw new HttpError(404, `there is no router \`${name}\``, {
    hint: `known names: ${known.join(", ")}`,
    code: "router_not_found",
    param: "router",
  });
}

/** The models that are served, as entries of a configuration. */
export function entriesOf({
  models,
}: Serving): Record<string, { provider: string; model: string }> {
  const entries = [...models.values()].map(({ name, spec }) => {
    return [name, { provider: spec.provider, model: spec.upstreamName }] as const;
  });
  return Object.fromEntries(entries);
}

/** Takes over what other processes of this machine have learned about conversations and deployments. */
export function hearRouting(peers: Peers, serving: () => Serving): void {
  peers.on("read", ([router, all]: [string, readonly ReadNews[]]) => {
    const read = serving().routers.get(router)?.prices.read;
    for (const news of all) read?.adopt(news);
  });
  peers.on("used", ([model, name, ...used]: [string, string, ...Used]) => {
    const { deployments = [] } = serving().models.get(model) ?? {};
    deployments.find(({ spec }) => spec.name === name)?.usedElsewhere(...used);
  });
}

/**
 * The configuration that answers requests. Throws 503 if the sandbox is served only because the configuration in the
 * store cannot be served: clients that expect real models must not get simulated answers.
 */
export function answering(served: Serving, invalid: Configuration["invalid"]): Serving {
  if (!invalid || served.from !== "sandbox") return served;
  const { revision, problem } = invalid;
  throw new HttpError(
    503,
    `revision ${revision} of the configuration cannot be served: ${problem}`,
    {
      hint: "an administrator has to correct the configuration on the page, under Admin",
      code: "configuration_invalid",
    },
  );
}
