/** Places outside the configuration, and checks of a configuration before it is served. */
import { join } from "node:path";
import type { EncoderPlaces } from "../core/encoder/open-encoder.ts";
import { checkedAt, InputError } from "../core/input/input-error.ts";
import { readKey } from "../store/seal.ts";
import type { Access } from "./access/access.ts";
import { isLoopback } from "./access/origin.ts";
import type { Clock } from "./clock/clock.ts";
import type { Config } from "./config/config.ts";

/** Everything outside the configuration that models and routers are built from. */
export interface BuilderPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the SQLite file, which is used if no database is configured. */
  readonly dataDir: string;
  /** Folder of the project's own data. */
  readonly projectData: string;
  readonly encoders: EncoderPlaces;
  /** Folder that paths in the configuration are relative to. */
  readonly folder: string;
  readonly clock: Clock;
}

export function builderOptions(places: BuilderPlaces) {
  const { env, projectData: data, encoders, folder, clock, dataDir } = places;
  const catalog = { builtIn: join(data, "catalog"), updated: join(dataDir, "catalog") };
  return { env, data, encoders, folder, clock, catalog };
}

export function checkStoreKey({ store: { key } }: Config): void {
  if (key === undefined) return;
  checkedAt({ file: "joust.yaml", field: "store.key" }, () => readKey(key));
}

/**
 * Refuses to serve other machines if there is no API key: everybody who can reach the gateway could
 * spend the operator's money. `host` is the address on which the gateway listens, and `config` the
 * configuration that is to be served. A revoked key counts too: the gateway then admits nobody.
 */
export async function checkHost(
  host: string,
  config: Pick<Config, "keys">,
  access: Pick<Access, "isOpenWith">,
): Promise<void> {
  if (isLoopback(host) || !(await access.isOpenWith(config))) return;
  throw new InputError(
    { file: "joust.yaml", field: "server.host" },
    `is ${host}, which other machines can reach, but there is no API key`,
    "create a key first, in the same data folder or database: joust keys add NAME --scopes admin,route,vote; another server.host requires a restart",
  );
}
