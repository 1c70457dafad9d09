/** Finds and reads the configuration that `joust serve` would use. */
import { existsSync } from "node:fs";
import { InputError } from "../../core/input/input-error.ts";
import { CONFIG, type Config } from "../../gateway/config/config.ts";
import { located, readConfig } from "../../gateway/config/read-config.ts";
import type { Placement } from "../../gateway/providers/model-specs.ts";
import { PROVIDER_NAMES } from "../../gateway/providers/providers.ts";

export interface ConfigurationFlags {
  readonly config?: string;
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

/** The configuration and its models with their prices, without starting a gateway. */
export async function checkedConfiguration(
  flags: ConfigurationFlags,
): Promise<{ config: Config; placement: Placement }> {
  const file = configurationFile(flags);
  try {
    const config = await readConfiguration(file, flags);
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
