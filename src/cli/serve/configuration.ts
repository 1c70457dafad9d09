/** Finds and reads the configuration that `joust serve` would use. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { formatErrorLine } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { VaultPlaces } from "../../gateway/administration/vault-key.ts";
import { CONFIG, type Config } from "../../gateway/config/config.ts";
import { located, readConfig } from "../../gateway/config/read-config.ts";
import type { Placement } from "../../gateway/providers/model-specs.ts";
import { PROVIDER_NAMES } from "../../gateway/providers/providers.ts";
import type { Store } from "../../store/store.ts";

export interface ConfigurationFlags {
  readonly config?: string | undefined;
  readonly port?: number;
  readonly host?: string;
  readonly data: string;
}

export interface ServeFlags extends ConfigurationFlags {
  readonly check?: boolean;
  readonly probe?: boolean;
  readonly processes?: number;
}

const DEFAULT_FILE = "joust.yaml";

/** The file given with --config, or joust.yaml if it exists. */
export function configurationFile({ config }: ConfigurationFlags): string | undefined {
  return config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
}

/** Reads the configuration and applies the options and the environment to it. */
export async function readConfiguration(
  file: string | undefined,
  flags: ConfigurationFlags,
): Promise<Config> {
  const config =
    file === undefined ? CONFIG.parse({}) : await readConfig(file, process.env, PROVIDER_NAMES);
  return withFlags(config, file, flags);
}

/** The configuration with the settings of the options and the environment. */
export function withFlags(
  config: Config,
  file: string | undefined,
  { port, host }: Pick<ConfigurationFlags, "port" | "host">,
): Config {
  const server = {
    ...config.server,
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
  };
  // A file that names no database means the data folder, whatever other commands use.
  const { JOUST_STORE_KEY: key, JOUST_DATABASE: url } = process.env;
  const store = {
    ...config.store,
    ...(config.store.key === undefined && key && { key }),
    ...(file === undefined && url && { url: checkedUrl(url) }),
  };
  return { ...config, server, store };
}

function checkedUrl(url: string): string {
  if (/^postgres(ql)?:\/\//.test(url)) return url;
  throw new InputError(
    { file: "the environment", field: "JOUST_DATABASE" },
    "is not an address of PostgreSQL",
    "write it like postgres://user:password@host/name",
  );
}

/** The configuration that a command works with. */
export interface ServedConfiguration {
  readonly config: Config;
  /** The file that it was read from. */
  readonly file: string | undefined;
  /** The revision in the store that it was read from; 0 if the store has no valid one, undefined without a store. */
  readonly revision?: number | undefined;
  /** The error of the newest revision in the store, if that is invalid and an earlier one takes its place. */
  readonly invalid?: InputError | undefined;
}

/**
 * The configuration that `joust serve` serves with these options: that of a file, the one that was made on the page, or
 * the default one. Every command that needs models or routers reads it here. If the newest revision in the store
 * is invalid, this is the last valid one, as for `serve`, and a warning says so.
 */
export async function servedConfiguration(
  flags: ConfigurationFlags & { readonly database?: string | undefined },
): Promise<ServedConfiguration> {
  const file = configurationFile(flags);
  const base = await readConfiguration(file, flags);
  if (file !== undefined) return { config: base, file };
  const { newestValid } = await import("../../gateway/administration/revisions.ts");
  const vault = vaultOf(base, flags);
  const found = await inStore(base, flags, (store) => newestValid(store, base, vault));
  if (!found) return { config: base, file };
  const { config, revision, error: invalid } = found;
  if (invalid) {
    const used = revision === 0 ? "the default configuration" : `revision ${revision}`;
    process.stderr.write(
      `joust: the newest configuration in the store is invalid, ${used} is used instead: ${formatErrorLine(invalid)}\n`,
    );
  }
  return { config, file, revision, invalid };
}

/** Calls `use` with the store of a configuration. If there is no store yet, creates it or returns undefined. */
export async function inStore<T>(
  { store: { url } }: Config,
  { data, database }: ConfigurationFlags & { readonly database?: string | undefined },
  use: (store: Store) => Promise<T>,
  missing: "skip" | "create" = "skip",
): Promise<T | undefined> {
  const { locationOf, openStore } = await import("../../gateway/open-store.ts");
  const location = locationOf({ config: { store: { url: database ?? url } }, dataDir: data });
  if (missing === "skip" && "file" in location && !existsSync(location.file)) return undefined;
  const store = await openStore(location);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The places of the key that encrypts the secrets of a configuration in the store. */
export function vaultOf(
  { store: { key, url } }: Config,
  { data, database }: { readonly data: string; readonly database?: string | undefined },
): VaultPlaces {
  return { key, isShared: (database ?? url) !== undefined, folder: resolve(data) };
}

/** The configuration and its models with their prices, without starting a gateway. */
export async function checkedConfiguration(
  flags: ConfigurationFlags & { readonly database?: string | undefined },
): Promise<{ config: Config; placement: Placement }> {
  const file = configurationFile(flags);
  try {
    const { config } = await servedConfiguration(flags);
    // A process that only supervises others does not need the code of the gateway.
    const { checkGateway } = await import("../../gateway/check-gateway.ts");
    const { ownOptions } = await import("../../gateway/own-options.ts");
    return { config, placement: await checkGateway(ownOptions(config, file, flags.data)) };
  } catch (error) {
    throw await withPlace(error, file, flags);
  }
}

/**
 * Adds file and line to an error about a field of the configuration. If the value comes from an
 * option, the error names the option. Without a file, it names only the field.
 */
export async function withPlace(
  error: unknown,
  file: string | undefined,
  { host, port }: Pick<ConfigurationFlags, "host" | "port">,
): Promise<unknown> {
  if (!(error instanceof InputError) || error.file !== DEFAULT_FILE || !error.field) {
    return file === undefined ? error : located(error, file);
  }
  const options = {
    "server.host": host === undefined ? undefined : "--host",
    "server.port": port === undefined ? undefined : "--port",
  };
  const option = options[error.field as keyof typeof options];
  if (option === undefined && file !== undefined) return located(error, file);
  return new InputError({ file: option ?? error.field }, error.problem, error.hint);
}
