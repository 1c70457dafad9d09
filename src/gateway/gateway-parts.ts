/** Small parts of the gateway that `open` uses. */
import { join } from "node:path";
import type { Configuration } from "../api/configuration.ts";
import type { EncoderPlaces } from "../core/encoder/open-encoder.ts";
import { checkedAt, InputError } from "../core/input/input-error.ts";
import { readKey } from "../store/seal.ts";
import type { Access } from "./access/access.ts";
import { isLoopback } from "./access/origin.ts";
import type { Clock } from "./clock/clock.ts";
import type { Config } from "./config/config.ts";
import type { Peers } from "./peers/peers.ts";
import type { Used } from "./providers/deployment.ts";
import type { ReadNews } from "./routing/prefixes.ts";
import type { Serving } from "./routing/serving.ts";
import { HttpError } from "./wire/http-error.ts";

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
