import { InputError } from "../../core/input/input-error.ts";
import type { Clock } from "../clock/clock.ts";
import type { Environment } from "../config/config.ts";
import type { DialectUrls } from "../wire/dialect-names.ts";
import { HttpUpstream } from "./http-upstream.ts";
import type { Limits } from "./upstream/exchange.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** A host of models: its address, API and key. */
export interface Provider {
  readonly name: string;
  /** Address up to and including /v1. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly dialect: "openai" | "anthropic";
  /** Dialects with the address of the endpoint of each. Default: the one of `dialect`, under `url`. */
  readonly dialects?: DialectUrls | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether to request the usage of streams. */
  readonly asksUsage?: boolean | undefined;
  /** Models to serve if the configuration names none. "listed": all that the host lists. */
  readonly models: readonly string[] | "listed";
}

interface KnownProvider extends Provider {
  readonly keyVariables: readonly string[];
  readonly urlVariable?: string;
  /**
   * Whether the provider is used if the variable with its address is set. Other providers
   * are used if the variable with their key is set.
   */
  readonly isLocal?: true;
}

const KNOWN: readonly KnownProvider[] = [
  {
    name: "openai",
    url: "https://api.openai.com/v1",
    dialect: "openai",
    dialects: {
      chat: "https://api.openai.com/v1/chat/completions",
      responses: "https://api.openai.com/v1/responses",
    },
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    models: ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"],
  },
  {
    name: "anthropic",
    url: "https://api.anthropic.com/v1",
    dialect: "anthropic",
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    models: ["claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"],
  },
  {
    name: "gemini",
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    dialect: "openai",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    models: ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
  },
  {
    name: "mistral",
    url: "https://api.mistral.ai/v1",
    dialect: "openai",
    keyVariables: ["MISTRAL_API_KEY"],
    asksUsage: false, // sends usage with the last chunk and refuses unknown fields
    models: ["mistral-large-2512", "mistral-small-2603"],
  },
  {
    name: "groq",
    url: "https://api.groq.com/openai/v1",
    dialect: "openai",
    keyVariables: ["GROQ_API_KEY"],
    models: ["openai/gpt-oss-120b", "llama-3.3-70b-versatile", "llama-3.1-8b-instant"],
  },
  {
    name: "openrouter",
    url: "https://openrouter.ai/api/v1",
    dialect: "openai",
    keyVariables: ["OPENROUTER_API_KEY"],
    models: ["anthropic/claude-haiku-4.5", "openai/gpt-5.4-mini", "google/gemini-2.5-flash"],
  },
  {
    name: "ollama",
    url: "http://127.0.0.1:11434/v1",
    dialect: "openai",
    keyVariables: [],
    urlVariable: "OLLAMA_HOST",
    isLocal: true,
    models: "listed",
  },
  {
    name: "vllm",
    url: "http://127.0.0.1:8000/v1",
    dialect: "openai",
    keyVariables: ["VLLM_API_KEY"],
    urlVariable: "VLLM_BASE_URL",
    isLocal: true,
    models: "listed",
  },
];

/** Provider name of the sandbox, which runs inside this process. */
export const SANDBOX = "sandbox";

/** Names of the providers that need no entry in joust.yaml. */
export const PROVIDER_NAMES: readonly string[] = [...KNOWN.map(({ name }) => name), SANDBOX];

export function isKnown(name: string): boolean {
  return KNOWN.some((provider) => provider.name === name);
}

/** A known provider with the key and the address from the environment. */
export function knownProvider(name: string, env: Environment): Provider | undefined {
  const known = KNOWN.find((provider) => provider.name === name);
  if (!known) return undefined;
  const { keyVariables, urlVariable, isLocal: _, ...provider } = known;
  const key = keyVariables.map((variable) => env[variable]).find((value) => value);
  const address = urlVariable && env[urlVariable];
  if (!address) return { ...provider, key };
  // Another address may speak fewer dialects.
  return { ...provider, key, url: urlOf(known, urlVariable, address), dialects: undefined };
}

/** The missing variable without which a provider refuses all calls. Another address may need no key. */
export function missingKey(name: string, env: Environment): string | undefined {
  const known = KNOWN.find((provider) => provider.name === name);
  const { key, url } = knownProvider(name, env) ?? {};
  return known && !known.isLocal && key === undefined && url === known.url
    ? known.keyVariables[0]
    : undefined;
}

/** Providers that the environment has a key for, or the address of a local one. */
export function providersIn(env: Environment): Provider[] {
  return KNOWN.flatMap(({ name, isLocal, urlVariable }) => {
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
  const lacksVersion = isOllama || provider.dialect === "anthropic";
  return lacksVersion && !/\/v\d+$/.test(bare) ? `${bare}/v1` : bare;
}

/** A connected provider, which all its models share. */
export interface Host extends Upstream {
  /** Waits for the running requests. */
  close(): Promise<void>;
  models?(signal: AbortSignal): Promise<string[]>;
}

export function connect(provider: Provider, limits: Partial<Limits>, clock: Clock): Host {
  const { name, url, key, dialect, headers, asksUsage } = provider;
  const isAnthropic = dialect === "anthropic";
  const auth: Record<string, string> = {};
  if (key !== undefined && isAnthropic) auth["x-api-key"] = key;
  else if (key !== undefined) auth.authorization = `Bearer ${key}`;
  const dialects = provider.dialects ?? (isAnthropic ? { messages: `${url}/messages` } : undefined);
  const settings = { name, url, dialects, headers: { ...auth, ...headers }, limits, asksUsage };
  return new HttpUpstream(settings, clock);
}

/** Connected hosts. They are kept when the configuration changes, if it still uses them. */
export class Hosts {
  readonly #clock: Clock;
  readonly #open = new Map<string, Host>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(provider: Provider, limits: Partial<Limits>): Host {
    const key = keyOf(provider, limits);
    const found = this.#open.get(key);
    if (found) return found;
    const host = connect(provider, limits, this.#clock);
    this.#open.set(key, host);
    return host;
  }

  /** Closes all other hosts after their running requests. */
  retain(wanted: readonly { provider: Provider; limits: Partial<Limits> }[]): void {
    const keys = new Set(wanted.map(({ provider, limits }) => keyOf(provider, limits)));
    for (const [key, host] of this.#open) {
      if (keys.has(key)) continue;
      this.#open.delete(key);
      host.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    const hosts = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(hosts.map((host) => host.close()));
  }
}

function keyOf({ models: _, ...provider }: Provider, limits: Partial<Limits>): string {
  return JSON.stringify([provider, limits]);
}
