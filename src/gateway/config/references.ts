import { didYouMean } from "../../core/input/nearest.ts";
import { areAmbiguous } from "./aliases.ts";

/** A fault of a configuration, with the path of the invalid member. */
export interface Fault {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
  readonly hint: string;
}

/** Provider name of the sandbox, which runs inside this process. */
export const SANDBOX = "sandbox";

type Loose = Readonly<Record<string, unknown>>;

/**
 * Finds faults between members, such as references to unknown names. The configuration may be invalid in other ways:
 * members of a wrong type are ignored, because the schema reports them. `known` are the names of the providers that
 * need no entry.
 */
export function* faultsBetween(config: unknown, known: readonly string[]): Generator<Fault> {
  const { providers, models, routers = { auto: {} } } = objectOf(config);
  const names = Object.keys(objectOf(models));
  const all = [...new Set([...Object.keys(objectOf(providers)), ...known])];
  const kinds = known.filter((name) => name !== SANDBOX);
  yield* providerFaults(entriesOf(providers), kinds);
  yield* modelFaults(entriesOf(models), all, SANDBOX in objectOf(providers));
  yield* nameFaults(config, names);
  for (const [name, router] of entriesOf(routers)) {
    yield* disabledFaults(name, router, objectOf(models));
  }
  yield* aliasFaults(entriesOf(routers), names);
}

/**
 * Finds faults of routers and API keys, such as names of unknown models. `names` are the models that exist; if there are
 * none, names of models are not checked, because models of the environment are known later.
 */
export function* nameFaults(config: unknown, names: readonly string[]): Generator<Fault> {
  const { routers = { auto: {} }, keys } = objectOf(config);
  for (const [name, router] of entriesOf(routers)) yield* routerFaults(name, router, names);
  yield* keyFaults(entriesOf(keys), { models: names, routers: Object.keys(objectOf(routers)) });
}

function* providerFaults(providers: [string, Loose][], kinds: readonly string[]): Generator<Fault> {
  for (const [name, { kind, url, dialects }] of providers) {
    const path = ["providers", name];
    if (typeof kind === "string" && !kinds.includes(kind)) {
      yield unknown([...path, "kind"], kind, kinds);
    }
    const base = kind ?? name;
    if (url === undefined && dialects === undefined && !kinds.includes(String(base))) {
      const hint = "write the address up to and including /v1, or name a known provider as `kind`";
      yield { path: [...path, "url"], problem: "is missing", hint };
    }
  }
}

function* modelFaults(
  models: [string, Loose][],
  all: readonly string[],
  isSandboxReplaced: boolean,
): Generator<Fault> {
  for (const [name, { provider, deployments }] of models) {
    const path = ["models", name];
    if ((provider === undefined) === (deployments === undefined)) {
      const problem = provider === undefined ? "is missing" : "is given with deployments";
      const hint = "give either a provider, or deployments that each have a provider";
      yield { path: [...path, "provider"], problem, hint };
    } else if (typeof provider === "string" && !all.includes(provider)) {
      yield unknown([...path, "provider"], provider, all);
    }
    for (const [i, deployment] of listOf(deployments).entries()) {
      const { provider: own } = objectOf(deployment);
      const at = [...path, "deployments", i, "provider"];
      if (own === SANDBOX && !isSandboxReplaced) {
        const hint = "write `provider: sandbox` instead of the deployments";
        yield { path: at, problem: "is the sandbox, which has no deployments", hint };
      } else if (typeof own === "string" && !all.includes(own)) {
        yield unknown(at, own, all);
      }
    }
  }
}

function* routerFaults(name: string, router: Loose, names: readonly string[]): Generator<Fault> {
  const path = ["routers", name];
  const { models, fallback, judge, mode } = router;
  if (names.includes(name)) {
    const hint = "rename the router or the model";
    yield { path, problem: "is also the name of a model", hint };
  }
  if (router.bundle !== undefined && router.encoder !== undefined) {
    const hint = "remove it: a bundle contains its own encoder";
    yield { path: [...path, "encoder"], problem: "is given with a bundle", hint };
  }
  if ((mode === "observe" || mode === "bypass") && fallback === undefined) {
    const problem = `is ${mode}, which needs a model that answers`;
    yield { path: [...path, "mode"], problem, hint: "name the model as `fallback`" };
  }
  if (names.length === 0) return;
  const listed = listOf(models);
  const pool = models === undefined ? names : listed;
  for (const [i, model] of listed.entries()) {
    if (typeof model !== "string") continue;
    if (!names.includes(model)) yield unknown([...path, "models", i], model, names);
    if (listed.indexOf(model) !== i) {
      const problem = "is listed twice";
      yield { path: [...path, "models", i], problem, hint: "remove one of them" };
    }
  }
  if (typeof fallback === "string" && !pool.includes(fallback)) {
    const known = pool.filter((one) => typeof one === "string");
    yield unknown([...path, "fallback"], fallback, known);
  }
  const { model: judging } = objectOf(judge);
  if (typeof judging === "string" && !names.includes(judging)) {
    yield unknown([...path, "judge", "model"], judging, names);
  }
}

/** Uses of disabled models: a router needs one that is enabled, and so do its fallback and its judge. */
function* disabledFaults(name: string, router: Loose, models: Loose): Generator<Fault> {
  const path = ["routers", name];
  const isOff = (model: unknown) => objectOf(models[String(model)]).enabled === false;
  const pool = router.models === undefined ? Object.keys(models) : listOf(router.models);
  if (pool.length > 0 && pool.every(isOff)) {
    const hint = "enable one of them, or add a model";
    yield { path: [...path, "models"], problem: "has only disabled models", hint };
  }
  const uses = [
    [["fallback"], router.fallback],
    [["judge", "model"], objectOf(router.judge).model],
  ] as const;
  for (const [field, model] of uses) {
    if (model === undefined || !isOff(model)) continue;
    const problem = `"${model}" is disabled`;
    yield { path: [...path, ...field], problem, hint: "enable it, or name another model" };
  }
}

/** Aliases that have no effect, or that fit two routers equally well. */
function* aliasFaults(routers: [string, Loose][], names: readonly string[]): Generator<Fault> {
  const all = routers.flatMap(([router, { aliases }]) =>
    listOf(aliases).flatMap((alias, i) => {
      return typeof alias === "string" ? [{ router, alias, path: aliasPath(router, i) }] : [];
    }),
  );
  const routerNames = routers.map(([name]) => name);
  for (const [n, { router, alias, path }] of all.entries()) {
    const kind = routerNames.includes(alias) ? "router" : "model";
    if (kind === "router" || names.includes(alias)) {
      const problem = `"${alias}" is the name of a ${kind}, which takes precedence`;
      yield { path, problem, hint: `remove the alias, or rename the ${kind}` };
    }
    const other = all.slice(0, n).find((one) => {
      return one.router !== router && areAmbiguous(one.alias, alias);
    });
    if (!other) continue;
    const isSame = other.alias === alias;
    const problem = isSame
      ? `"${alias}" is also an alias of the router ${other.router}`
      : `"${alias}" and "${other.alias}" of the router ${other.router} fit the same names, and neither is more specific`;
    const hint = isSame
      ? "remove one of them"
      : "write more characters into one of them: the alias with the most characters besides * decides";
    yield { path, problem, hint };
  }
}

function aliasPath(router: string, i: number): PropertyKey[] {
  return ["routers", router, "aliases", i];
}

/** Models and routers that the limits of API keys name. */
function* keyFaults(
  keys: [string, Loose][],
  names: { readonly models: readonly string[]; readonly routers: readonly string[] },
): Generator<Fault> {
  for (const [key, limits] of keys) {
    for (const list of ["models", "routers"] as const) {
      if (names[list].length === 0) continue;
      for (const [i, name] of listOf(limits[list]).entries()) {
        if (typeof name !== "string" || names[list].includes(name)) continue;
        yield unknown(["keys", key, list, i], name, names[list]);
      }
    }
  }
}

function unknown(path: readonly PropertyKey[], name: string, known: readonly string[]): Fault {
  const hint = `${didYouMean(name, known)}known names: ${known.join(", ") || "none"}`;
  return { path, problem: `"${name}" is not known`, hint };
}

/** The value if it is an object, otherwise an empty one. */
export function objectOf(value: unknown): Loose {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Loose) : {};
}

/** The entries of a section that are objects. */
function entriesOf(section: unknown): [string, Loose][] {
  return Object.entries(objectOf(section)).flatMap(([name, value]): [string, Loose][] =>
    typeof value === "object" && value !== null ? [[name, value as Loose]] : [],
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
