import { InputError } from "../../core/input/input-error.ts";
import type { Config, Environment, ModelConfig } from "../config/config.ts";
import { SANDBOX } from "../config/references.ts";
import { USUAL_CACHE } from "./answer-price.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { DeploymentSpec } from "./deployment.ts";
import { knownRules } from "./parameters/known-rules.ts";
import { mergeRules } from "./parameters/rules.ts";
import { missingKey, type Provider, providerOf, providersIn } from "./providers.ts";
import type { ModelSpec } from "./served-model.ts";
import type { Limits } from "./upstream/exchange.ts";
import type { Price } from "./upstream/usage.ts";

/** The models to serve and their providers. */
export interface Placement {
  /** Source of the models: joust.yaml, keys in the environment or, without either, the sandbox. */
  readonly from: "file" | "environment" | "sandbox";
  readonly models: readonly PlacedModel[];
}

export interface PlacedModel {
  readonly spec: ModelSpec;
  readonly deployments: readonly PlacedDeployment[];
  readonly limits: Partial<Limits>;
}

interface PlacedDeployment {
  readonly spec: DeploymentSpec;
  /** Provider of the model; undefined for the sandbox, which runs inside this process. */
  readonly provider: Provider | undefined;
}

interface SandboxModels {
  readonly names: readonly string[];
  price(model: string): Price;
  capabilities(model: string): Capabilities;
}

/**
 * Finds the models to serve. `listModels` lists the models of a provider. The catalog is opened only if there is a
 * model outside the sandbox.
 */
export async function placementOf(
  config: Config,
  env: Environment,
  openSandbox: () => Promise<SandboxModels>,
  listModels: (provider: Provider) => Promise<string[]>,
  openCatalog: () => Promise<Catalog>,
): Promise<Placement> {
  const named = Object.entries(config.models);
  if (named.length > 0) {
    const models = named.map(async ([name, model]) =>
      model.provider === SANDBOX && !config.providers[SANDBOX]
        ? inSandbox(name, model, await openSandbox())
        : specOf(name, model, deploymentsOf(name, model, config, env), await openCatalog()),
    );
    return { from: "file", models: await Promise.all(models) };
  }
  const found = await inEnvironment(config, env, listModels, openCatalog);
  if (found.length > 0) return { from: "environment", models: found };
  const sandbox = await openSandbox();
  const models = sandbox.names.map((name) => inSandbox(name, { model: name }, sandbox));
  return { from: "sandbox", models };
}

function inSandbox(
  name: string,
  { model = name, price, enabled = true }: Partial<ModelConfig>,
  sandbox: SandboxModels,
): PlacedModel {
  if (!sandbox.names.includes(model)) {
    throw new InputError(
      { file: "joust.yaml", field: `models.${name}.model` },
      `the sandbox has no model "${model}"`,
      `its models are ${sandbox.names.join(", ")}`,
    );
  }
  const spec: ModelSpec = {
    name,
    provider: SANDBOX,
    upstreamName: model,
    price: price ?? sandbox.price(model),
    cache: USUAL_CACHE,
    capabilities: sandbox.capabilities(model),
    retries: 0,
    isDisabled: !enabled,
  };
  const own = { name: SANDBOX, provider: SANDBOX, upstreamName: model, weight: 1 };
  return { spec, deployments: [{ spec: own, provider: undefined }], limits: {} };
}

/** A deployment with its provider, before the rules of its parameters are known. */
interface NamedDeployment extends Omit<DeploymentSpec, "provider" | "rules"> {
  readonly provider: Provider;
}

/** The deployments of a model, or its provider as the only one. */
function deploymentsOf(
  name: string,
  { provider, deployments, model = name }: ModelConfig,
  { providers }: Config,
  env: Environment,
): NamedDeployment[] {
  const all = deployments ?? [{ provider: provider!, weight: 1 }];
  const names = all.map((one) => one.name ?? one.provider);
  return all.map((one, i) => {
    const { model: upstreamName = model, key, weight, rpm, tpm } = one;
    const provider = providerOf(one.provider, providers[one.provider], env);
    // Deployments of the same provider are numbered.
    const isTwice = names.indexOf(names[i]!) !== names.lastIndexOf(names[i]!);
    const unique = isTwice
      ? `${names[i]}-${names.slice(0, i + 1).filter((other) => other === names[i]).length}`
      : names[i]!;
    const own = key === undefined ? provider : { ...provider, key };
    return { name: unique, provider: own, upstreamName, weight, rpm, tpm };
  });
}

function specOf(
  name: string,
  model: Partial<ModelConfig>,
  deployments: readonly NamedDeployment[],
  catalog: Catalog,
): PlacedModel {
  const { price, retries = 2, enabled = true } = model;
  const { provider, upstreamName } = deployments[0]!;
  const { timeout_seconds: total = 600, first_byte_seconds: first } = model;
  const listedName = listedNames(catalog, model.model);
  const nameThere = listedName(provider.kind, upstreamName);
  const { capabilities: listed } = catalog.facts(provider.kind, nameThere);
  const spec: ModelSpec = {
    name,
    provider: provider.name,
    upstreamName,
    price: price ?? catalog.price(provider.kind, nameThere),
    cache: {
      seconds: model.cache_seconds ?? USUAL_CACHE.seconds,
      minTokens: model.cache_tokens ?? USUAL_CACHE.minTokens,
    },
    capabilities: {
      vision: model.vision ?? listed.vision,
      tools: model.tools ?? listed.tools,
      json_schema: model.json_schema ?? listed.json_schema,
      context: model.context ?? listed.context,
    },
    retries,
    isDisabled: !enabled,
  };
  const limits = { totalMs: 1000 * total, ...(first && { firstByteMs: 1000 * first }) };
  const placed = deployments.map(({ provider, ...own }) => {
    const at = listedName(provider.kind, own.upstreamName);
    const facts = catalog.facts(provider.kind, at);
    const { max_answer: maxAnswer = facts.maxAnswer, temperature = facts.temperature } = model;
    const { reasoning } = facts;
    const jsonSchema = model.json_schema ?? facts.capabilities.json_schema;
    const known = knownRules({
      ...{ provider: provider.kind, model: at, maxAnswer, temperature, reasoning, jsonSchema },
    });
    const rules = mergeRules([known, model.parameters ?? {}]);
    return { spec: { ...own, provider: provider.name, rules }, provider };
  });
  return { spec, deployments: placed, limits };
}

/**
 * Returns a function that finds the name of a deployment in the catalog: its own or, if the catalog does not have it,
 * as with deployments of Azure, that of the model.
 */
function listedNames(catalog: Catalog, model: string | undefined) {
  return (kind: string | undefined, own: string): string => {
    const isListed =
      Object.keys(catalog.facts(kind, own).capabilities).length > 0 || catalog.price(kind, own);
    return isListed ? own : (model ?? own);
  };
}

/** Throws if a provider of a model has no key, because every request to it would fail. */
export function checkKeys(config: Config, env: Environment): void {
  const [fault] = missingKeys(config, env);
  if (fault) throw fault;
}

/** Errors for the providers of models that have no key, or lack a setting of their address. */
export function missingKeys({ models, providers }: Config, env: Environment): InputError[] {
  return Object.entries(models).flatMap(([model, { provider, deployments }]) => {
    const used = deployments
      ? deployments.map((one, i) => ({ ...one, field: `deployments.${i}.provider` }))
      : [{ provider: provider!, key: undefined, field: "provider" }];
    return used.flatMap(({ provider: name, key, field }) => {
      try {
        const variable = missingKey(name, providers[name], env, key);
        if (variable === undefined) return [];
        const at = { file: "joust.yaml", field: `models.${model}.${field}` };
        const problem = `is ${name}, which needs the environment variable ${variable}`;
        const hint = `export ${variable}, or write ${name} with a key under providers`;
        return [new InputError(at, problem, hint)];
      } catch (error) {
        if (error instanceof InputError) return [error];
        throw error;
      }
    });
  });
}

async function inEnvironment(
  config: Config,
  env: Environment,
  listModels: (provider: Provider) => Promise<string[]>,
  openCatalog: () => Promise<Catalog>,
): Promise<PlacedModel[]> {
  const own = Object.keys(config.providers).map((name) => ({
    ...providerOf(name, config.providers[name], env),
    models: "listed" as const,
  }));
  const known = providersIn(env).filter(({ name }) => !config.providers[name]);
  const lists = await Promise.all(
    [...own, ...known].map(async (provider) => {
      const names =
        provider.models === "listed"
          ? (await listModels(provider)).filter((name) => !NO_CHAT.test(name))
          : provider.models;
      return names.map((name) => ({ name, provider }));
    }),
  );
  const all = lists.flat();
  if (all.length === 0) return [];
  const catalog = await openCatalog();
  // If two providers have the same model, its name is prefixed with the provider's.
  return all.map(({ name, provider }) => {
    const twice = all.filter((other) => other.name === name).length > 1;
    const unique = (twice ? `${provider.name}/${name}` : name).replace(/[^\w.:/@-]/g, "_");
    const own = { name: provider.name, provider, upstreamName: name, weight: 1 };
    return specOf(unique, {}, [own], catalog);
  });
}

/** Names of models that a provider lists but that do not answer chats. */
const NO_CHAT = /embed|rerank|whisper|tts|bge-|e5-|minilm/i;
