import { InputError } from "../../core/input/input-error.ts";
import type { Config, Environment, ModelConfig } from "../config/config.ts";
import type { Capabilities } from "./capabilities.ts";
import { capabilitiesOf, priceOf } from "./prices.ts";
import { knownProvider, missingKey, type Provider, providersIn, SANDBOX } from "./providers.ts";
import type { ModelSpec } from "./served-model.ts";
import type { Limits } from "./upstream/exchange.ts";
import type { Price } from "./upstream/usage.ts";

/** Which models there are, and where. */
export interface Placement {
  /** What named them: joust.yaml, keys in the environment, or nothing: then it is the sandbox. */
  readonly from: "file" | "environment" | "sandbox";
  readonly models: readonly PlacedModel[];
}

export interface PlacedModel {
  readonly spec: ModelSpec;
  /** Its host; none for the sandbox, which is in this process. */
  readonly provider: Provider | undefined;
  readonly limits: Partial<Limits>;
}

/** What the sandbox says of its models. */
export interface SandboxModels {
  readonly names: readonly string[];
  price(model: string): Price;
  capabilities(model: string): Capabilities;
}

/** `ask` tells the models that a local host has. */
export async function placementOf(
  config: Config,
  env: Environment,
  openSandbox: () => Promise<SandboxModels>,
  ask: (provider: Provider) => Promise<string[]>,
): Promise<Placement> {
  const named = Object.entries(config.models);
  if (named.length > 0) {
    const models = named.map(async ([name, model]) =>
      model.provider === SANDBOX && !config.providers[SANDBOX]
        ? inSandbox(name, model, await openSandbox())
        : hosted(name, model, providerOf(model.provider, config, env)),
    );
    return { from: "file", models: await Promise.all(models) };
  }
  const found = await inEnvironment(config, env, ask);
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
      `the sandbox has no "${model}"`,
      `it has ${sandbox.names.join(", ")}`,
    );
  }
  const spec: ModelSpec = {
    name,
    provider: SANDBOX,
    upstreamName: model,
    price: price ? readPrice(price) : sandbox.price(model),
    capabilities: sandbox.capabilities(model),
    retries: 0,
  };
  return { spec, provider: undefined, limits: {} };
}

function hosted(name: string, model: Partial<ModelConfig>, provider: Provider): PlacedModel {
  const { model: upstreamName = name, price, retries = 2 } = model;
  const { timeout_seconds: total = 600, first_byte_seconds: first = 60 } = model;
  const listed = capabilitiesOf(upstreamName);
  const spec: ModelSpec = {
    name,
    provider: provider.name,
    upstreamName,
    price: price ? readPrice(price) : priceOf(upstreamName),
    capabilities: {
      vision: model.vision ?? listed.vision,
      tools: model.tools ?? listed.tools,
      jsonSchema: model.json_schema ?? listed.jsonSchema,
      context: model.context ?? listed.context,
    },
    retries,
  };
  return { spec, provider, limits: { totalMs: 1000 * total, firstByteMs: 1000 * first } };
}

/** A model that is named is to be served: without its provider's key no request would be. */
export function checkKeys({ models, providers }: Config, env: Environment): void {
  for (const [model, { provider }] of Object.entries(models)) {
    const variable = providers[provider] ? undefined : missingKey(provider, env);
    if (variable === undefined) continue;
    throw new InputError(
      { file: "joust.yaml", field: `models.${model}.provider` },
      `is ${provider}, which needs the environment variable ${variable}`,
      `export ${variable}, or write ${provider} with a key under providers`,
    );
  }
}

/** The file's own provider, or a known one with its key from the environment. */
function providerOf(name: string, { providers }: Config, env: Environment): Provider {
  const own = providers[name];
  if (!own) return knownProvider(name, env)!;
  const { url, key, dialect, headers, asks_usage: asksUsage } = own;
  return { name, url, key, dialect, headers, asksUsage, models: [] };
}

async function inEnvironment(
  config: Config,
  env: Environment,
  ask: (provider: Provider) => Promise<string[]>,
): Promise<PlacedModel[]> {
  const own = Object.keys(config.providers).map((name) => ({
    ...providerOf(name, config, env),
    models: "those it has" as const,
  }));
  const known = providersIn(env).filter(({ name }) => !config.providers[name]);
  const lists = await Promise.all(
    [...own, ...known].map(async (provider) => {
      const names =
        provider.models === "those it has"
          ? (await ask(provider)).filter((name) => !NO_CHAT.test(name))
          : provider.models;
      return names.map((name) => ({ name, provider }));
    }),
  );
  const all = lists.flat();
  // The same model at two providers has the provider's name before it.
  return all.map(({ name, provider }) => {
    const twice = all.filter((other) => other.name === name).length > 1;
    const unique = (twice ? `${provider.name}/${name}` : name).replace(/[^\w.:/@-]/g, "_");
    return hosted(unique, { model: name }, provider);
  });
}

/** Models that a local host lists but that answer no chat. */
const NO_CHAT = /embed|rerank|whisper|tts|bge-|e5-|minilm/i;

function readPrice(price: NonNullable<ModelConfig["price"]>): Price {
  const { input, output, cached_input: cachedInput, cache_write: cacheWrite } = price;
  return { input, output, cachedInput, cacheWrite };
}
