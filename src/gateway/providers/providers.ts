import { readFileSync } from "node:fs";
import { messageOf } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Environment, ProviderConfig } from "../config/config.ts";
import { SANDBOX } from "../config/references.ts";
import { DIALECTS, type DialectUrls } from "../wire/dialect-names.ts";
import type { Edits } from "../wire/json.ts";
import { rememberSecrets } from "../wire/secrets.ts";
import type { AuthKind, Credentials } from "./auth.ts";
import { KNOWN, type KnownProvider, SETTING_NAMES, type SettingName } from "./known-providers.ts";

/** A provider of models: its addresses and credentials. */
export interface Provider extends Credentials {
  readonly name: string;
  /** Name of the known provider; undefined for a provider that Joust does not know. */
  readonly kind?: string | undefined;
  /** Address up to and including /v1. */
  readonly url: string;
  /** Address of each dialect that the provider speaks. */
  readonly dialects: DialectUrls;
  /** Address that counts the tokens of Messages requests, if it is not below the address of Messages. */
  readonly countTokens?: string | undefined;
  readonly auth: AuthKind;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether to request the usage of streams. */
  readonly requestsUsage?: boolean | undefined;
  /** Changes to the body of every request. */
  readonly edits?: Edits | undefined;
  /** Models to serve if the configuration names none. "listed": all that the provider lists. */
  readonly models: readonly string[] | "listed";
}

/** Names of the providers that need no entry in joust.yaml. */
export const PROVIDER_NAMES: readonly string[] = [...KNOWN.map(({ name }) => name), SANDBOX];

function known(name: string): KnownProvider | undefined {
  return KNOWN.find((provider) => provider.name === name);
}

/**
 * The provider of this name: the entry of the configuration, the known provider, or the known provider with the
 * settings of the entry. Credentials of the environment belong to the known address, so they never go to another one.
 */
export function providerOf(
  name: string,
  entry: ProviderConfig | undefined,
  env: Environment,
): Provider {
  const base = baseFor(name, entry);
  if (!base) return plainProvider(name, entry!);
  const provider = knownProvider(base.name, env, entry, name)!;
  if (!entry) return provider;
  const { auth = provider.auth, headers } = entry;
  const requestsUsage = usageSetting(entry) ?? base.requestsUsage;
  return { ...provider, name, auth, headers, requestsUsage };
}

/** The known provider that an entry describes. */
function baseFor(name: string, entry: ProviderConfig | undefined): KnownProvider | undefined {
  return known(entry?.kind ?? (isElsewhere(entry) ? "" : name));
}

/** The setting `request_usage`, also under its name in version 0.1. */
function usageSetting(entry: ProviderConfig): boolean | undefined {
  return entry.request_usage ?? entry.asks_usage;
}

/** A provider that is described by its entry alone. */
function plainProvider(name: string, entry: ProviderConfig): Provider {
  const { url = baseOf(entry.dialects ?? {}), key, dialect = "openai", headers } = entry;
  const bare = url.replace(/\/+$/, "");
  const isAnthropic = dialect === "anthropic";
  const own = isAnthropic ? { messages: `${bare}/messages` } : { chat: `${bare}/chat/completions` };
  const { auth = isAnthropic ? "x-api-key" : "bearer" } = entry;
  const requestsUsage = usageSetting(entry);
  const aws = awsOf(entry, {}, undefined, entry.region);
  const google = googleOf(entry, undefined);
  const dialects = entry.dialects ?? own;
  return { name, url: bare, key, dialects, auth, aws, google, headers, requestsUsage, models: [] };
}

/** Address that the endpoints of the dialects have in common. */
function baseOf(dialects: DialectUrls): string {
  const { chat, responses, messages } = dialects;
  return (chat ?? responses ?? messages ?? "").replace(
    /\/(chat\/completions|responses|messages)(\?.*)?$/,
    "",
  );
}

/**
 * A known provider with key, address and settings from its entry or the environment. Errors name the entry
 * `name`.
 */
export function knownProvider(
  kind: string,
  env: Environment,
  entry?: ProviderConfig,
  name = kind,
): Provider | undefined {
  const base = known(kind);
  if (!base) return undefined;
  const { urlVariable, models, requestsUsage, edits } = base;
  const address = entry?.url ?? (urlVariable && env[urlVariable]);
  // Credentials of the environment only go to the addresses of the kind and of the environment.
  const key = entry?.key ?? (isElsewhere(entry) ? undefined : keyIn(base, env));
  const settings = settingsOf(base, env, entry, address !== undefined);
  const fill = (template: string) => filled(template, settings, base, name);
  const url = entry?.url ?? (address ? urlOf(base, urlVariable!, address) : fill(base.url));
  // Another address in the environment may speak fewer dialects.
  const spoken = address && !entry?.url && base.dialects.chat ? CHAT_ONLY : base.dialects;
  const addressOf = (template: string | undefined) =>
    template && fill(template.replace("{url}", () => url.replace(/\/+$/, "")));
  const dialects = Object.fromEntries(
    DIALECTS.flatMap((dialect) => {
      const address = addressOf(spoken[dialect]);
      return address === undefined ? [] : [[dialect, address]];
    }),
  );
  const awsEnv = isAtKnownAddress("sigv4", base, entry) ? env : {};
  const aws = awsOf(entry, awsEnv, base.service, settings.region);
  return {
    name: kind,
    kind,
    url,
    dialects: entry?.dialects ?? dialects,
    countTokens: entry?.dialects ? undefined : addressOf(base.countTokens),
    auth: base.auth,
    key,
    aws,
    google: googleOf(entry, base),
    requestsUsage,
    edits,
    models,
  };
}

/** Whether an entry has addresses of its own. */
function isElsewhere(entry: ProviderConfig | undefined): boolean {
  return entry?.url !== undefined || entry?.dialects !== undefined;
}

/** Whether an entry keeps the addresses of a known provider, and that provider uses this kind of authentication. */
function isAtKnownAddress(
  auth: AuthKind,
  base: KnownProvider | undefined,
  entry: ProviderConfig | undefined,
): boolean {
  return base?.auth === auth && !isElsewhere(entry);
}

/** Whether the tokens of a Google account go to an address that is not Google's. */
export function sendsTokensElsewhere(name: string, entry: ProviderConfig): boolean {
  return !isAtKnownAddress("google-oauth", baseFor(name, entry), entry);
}

const CHAT_ONLY: DialectUrls = { chat: "{url}/chat/completions" };

function keyIn({ keyVariables }: KnownProvider, env: Environment): string | undefined {
  return keyVariables.map((variable) => secretIn(variable, env)).find((value) => value);
}

/** A secret in a variable, or in the file that the variable with the suffix _FILE names. */
function secretIn(variable: string, env: Environment): string | undefined {
  const file = env[`${variable}_FILE`];
  if (env[variable] || !file) return env[variable];
  try {
    const secret = readFileSync(file, "utf8").trim();
    rememberSecrets([secret]);
    return secret;
  } catch (error) {
    throw new InputError(
      { file: "the environment", field: `${variable}_FILE` },
      `names a file that cannot be read: ${messageOf(error)}`,
      "correct the path or the permissions of the file",
    );
  }
}

function awsOf(
  entry: ProviderConfig | undefined,
  env: Environment,
  usual: string | undefined,
  region: string | undefined,
): Credentials["aws"] {
  const service = entry?.service ?? usual;
  const accessKey = entry?.access_key ?? secretIn("AWS_ACCESS_KEY_ID", env);
  const secretKey = entry?.secret_key ?? secretIn("AWS_SECRET_ACCESS_KEY", env);
  if (!service || !region || !accessKey || !secretKey) return undefined;
  const sessionToken = entry?.access_key
    ? entry.session_token
    : secretIn("AWS_SESSION_TOKEN", env) || undefined;
  return { accessKey, secretKey, sessionToken, region, service };
}

/**
 * The Google account of an entry. The account that google-auth-library finds is used for Google's addresses
 * only; for another address, the entry must say `default`.
 */
function googleOf(
  entry: ProviderConfig | undefined,
  base: KnownProvider | undefined,
): Credentials["google"] {
  const file = entry?.credentials;
  if (file === undefined) return isAtKnownAddress("google-oauth", base, entry) ? {} : undefined;
  return file === DEFAULT_ACCOUNT ? {} : { file };
}

/** Value of `credentials` for the account that google-auth-library finds. */
const DEFAULT_ACCOUNT = "default";

type Settings = Partial<Record<SettingName, string>>;

function settingsOf(
  { settings = {} }: KnownProvider,
  env: Environment,
  entry: ProviderConfig | undefined,
  hasUrl: boolean,
): Settings {
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const variables = settings[name] ?? [];
      const found = variables.map((variable) => env[variable]).find((value) => value);
      const value = entry?.[name] ?? found ?? (hasUrl && name === "resource" ? "" : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Puts the settings into an address. `{model}` and `{stream:...}` stay, because they differ by request. */
function filled(
  template: string,
  settings: Settings,
  { settings: variablesOf = {} }: KnownProvider,
  provider: string,
): string {
  return template
    .replace("{vertex-host}", vertexHost(settings.region))
    .replace(/\{(\w+)\}/g, (whole, name: string) => {
      if (name === "model") return whole;
      const value = settings[name as SettingName];
      if (value !== undefined) return encodeURIComponent(value);
      const variables = variablesOf[name as SettingName] ?? [];
      throw new InputError(
        { file: "joust.yaml", field: `providers.${provider}.${name}` },
        "is missing, and the provider's address needs it",
        `write it there${variables.length > 0 ? `, or export ${variables[0]}` : ""}`,
      );
    });
}

/** Host of Vertex AI in a region, in one of the multi-regions us and eu, or in no region ("global"). */
function vertexHost(region: string | undefined): string {
  if (region === "global") return "aiplatform.googleapis.com";
  if (region === "us" || region === "eu") return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

/**
 * Name of the variable without which a provider refuses all calls, or undefined if nothing is missing. Throws if a
 * setting is missing. `ownKey` is used instead of the provider's key.
 */
export function missingKey(
  name: string,
  entry: ProviderConfig | undefined,
  env: Environment,
  ownKey?: string,
): string | undefined {
  if (name === SANDBOX && !entry) return undefined;
  const provider = providerOf(name, entry, env);
  const { kind = "", key = ownKey, url, auth, aws } = provider;
  if (key !== undefined) return undefined;
  checkCredentials(provider, entry);
  const base = known(kind);
  if (!base || base.isLocal) return undefined;
  if (auth === "google-oauth" || auth === "none") return undefined;
  if (auth === "sigv4") return aws ? undefined : "AWS_ACCESS_KEY_ID";
  // A provider at another address may need no key.
  const isOther = isElsewhere(entry) || (base.urlVariable && url !== base.url);
  return isOther ? undefined : base.keyVariables[0];
}

/** Throws if a provider at another address needs credentials that only the environment may have. */
function checkCredentials(
  { name, kind = "", auth, google }: Provider,
  entry: ProviderConfig | undefined,
): void {
  if ((auth !== "sigv4" && auth !== "google-oauth") || isAtKnownAddress(auth, known(kind), entry))
    return;
  const missing =
    auth === "sigv4"
      ? (["access_key", "secret_key"] as const).find((field) => !entry?.[field])
      : google === undefined && "credentials";
  if (!missing) return;
  throw new InputError(
    { file: "joust.yaml", field: `providers.${name}.${missing}` },
    "is missing: credentials of the environment are never sent to an address of yours",
    missing === "credentials"
      ? "write `credentials`: a file, or `default` for the account that google-auth-library finds"
      : "write `access_key` and `secret_key`",
  );
}

/** Providers for which the environment has a key or, if they are local, an address. */
export function providersIn(env: Environment): Provider[] {
  return KNOWN.flatMap(({ name, isLocal, urlVariable, models }) => {
    if (models.length === 0) return [];
    const provider = knownProvider(name, env)!;
    const isInUse = isLocal ? env[urlVariable!] : provider.key;
    return isInUse ? [provider] : [];
  });
}

/**
 * URL of an address in a variable. OLLAMA_HOST may be a bare host or the 0.0.0.0 that the server
 * listens on, and ANTHROPIC_BASE_URL has no /v1. Other addresses are used as they are.
 */
function urlOf(provider: KnownProvider, variable: string, address: string): string {
  const isOllama = provider.name === "ollama";
  const hasScheme = /^https?:\/\//.test(address);
  const host = isOllama ? address.replace(/^(https?:\/\/)?:/, "$1127.0.0.1:") : address;
  const url = URL.parse(isOllama && !hasScheme ? `http://${host}` : host);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InputError(
      { file: "the environment", field: variable },
      `is "${address}", not an address`,
      `write it like ${provider.url}`,
    );
  }
  if (isOllama) {
    if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
    if (!hasScheme && url.port === "") url.port = "11434";
  }
  const bare = url.href.replace(/\/+$/, "");
  const lacksVersion = isOllama || provider.name === "anthropic";
  return lacksVersion && !/\/v\d+$/.test(bare) ? `${bare}/v1` : bare;
}
