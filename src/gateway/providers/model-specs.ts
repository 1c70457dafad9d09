import { InputError } from "../../core/input/input-error.ts";
import type { Config, Environment, ModelConfig } from "../config/config.ts";
import { USUAL_CACHE } from "./answer-price.ts";
import type { Capabilities } from "./capabilities.ts";
import { knownRules } from "./parameters/known-rules.ts";
import { mergeRules } from "./parameters/rules.ts";
import { capabilitiesOf, priceOf } from "./prices.ts";
import { missingKey, type Provider, providerOf, providersIn, SANDBOX } from "./providers.ts";
import type { ModelSpec } from "./served-model.ts";
import type { Limits } from "./upstream/exchange.ts";
import type { Price } from "./upstream/usage.ts";

/** The models to serve and their hosts. */
export interface Placement {
  /** Source of the models: joust.yaml, keys in the environment or, without either, the sandbox. */
  readonly from: "file" | "environment" | "sandbox";
  readonly models: readonly PlacedModel[];
}

export interface PlacedModel {
  readonly spec: ModelSpec;
  /** Host of the model; undefined for the sandbox, which runs inside this process. */
  readonly provider: Provider | undefined;
  readonly limits: Partial<Limits>;
}

interface SandboxModels {
  readonly names: readonly string[];
  price(model: string): Price;
  capabilities(model: string): Capabilities;
}

/** Finds the models to serve. `listModels` lists the models of a host. */
export async function placementOf(
  config: Config,
  env: Environment,
  openSandbox: () => Promise<SandboxModels>,
  listModels: (provider: Provider) => Promise<string[]>,
): Promise<Placement> {
  const named = Object.entries(config.models);
  if (named.length > 0) {
    const models = named.map(async ([name, model]) =>
      model.provider === SANDBOX && !config.providers[SANDBOX]
        ? inSandbox(name, model, await openSandbox())
        : hosted(name, model, providerOf(model.provider, config.providers[model.provider], env)),
    );
    return { from: "file", models: await Promise.all(models) };
  }
  const found = await inEnvironment(config, env, listModels);
  if (found.length > 0) return { from: "environment", models: found };
  const sandbox = await openSandbox();
  const models = sandbox.names.map((name) => inSandbox(name, { model: name }, sandbox));
  return { from: "sandbox", models };
}

function inSandbox(
  name: string,
  { model = name, price }: Partial<ModelConfig>,
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
  };
  return { spec, provider: undefined, limits: {} };
}

function hosted(name: string, model: Partial<ModelConfig>, provider: Provider): PlacedModel {
  const { model: upstreamName = name, price, retries = 2 } = model;
  const { timeout_seconds: total = 600, first_byte_seconds: first } = model;
  const listed = capabilitiesOf(upstreamName);
  const spec: ModelSpec = {
    name,
    provider: provider.name,
    upstreamName,
    price: price ?? priceOf(upstreamName),
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
    rules: mergeRules([
      knownRules({
        provider: provider.kind,
        model: upstreamName,
      }),
      model.parameters ?? {},
    ]),
  };
  const limits = { totalMs: 1000 * total, ...(first && { firstByteMs: 1000 * first }) };
  return { spec, provider, limits };
}

/** Throws if a model's provider has no key, because every request to it would fail. */
export function checkKeys({ models, providers }: Config, env: Environment): void {
  for (const [model, { provider }] of Object.entries(models)) {
    const variable = missingKey(provider, providers[provider], env);
    if (variable === undefined) continue;
    throw new InputError(
      { file: "joust.yaml", field: `models.${model}.provider` },
      `is ${provider}, which needs the environment variable ${variable}`,
      `export ${variable}, or write ${provider} with a key under providers`,
    );
  }
}

async function inEnvironment(
  config: Config,
  env: Environment,
  listModels: (provider: Provider) => Promise<string[]>,
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
  // If two providers have the same model, its name is prefixed with the provider's.
  return all.map(({ name, provider }) => {
    const twice = all.filter((other) => other.name === name).length > 1;
    const unique = (twice ? `${provider.name}/${name}` : name).replace(/[^\w.:/@-]/g, "_");
    return hosted(unique, { model: name }, provider);
  });
}

/** Names of models that a host lists but that do not answer chats. */
const NO_CHAT = /embed|rerank|whisper|tts|bge-|e5-|minilm/i;
