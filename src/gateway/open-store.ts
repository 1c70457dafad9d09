import { join } from "node:path";
import { openSqlite } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import type { Config } from "./config/config.ts";

/** Location of the store: a SQLite file, or the URL of a PostgreSQL database. */
export type StoreLocation = { readonly file: string } | { readonly url: string };

/** The location that a configuration names. The default is a file in the data folder. */
export function locationOf({
  config,
  dataDir,
}: {
  readonly config: { readonly store: Pick<Config["store"], "url"> };
  readonly dataDir: string;
}): StoreLocation {
  const { url } = config.store;
  return url === undefined ? { file: join(dataDir, "joust.db") } : { url };
}

export async function openStore(location: StoreLocation): Promise<Store> {
  if ("file" in location) return openSqlite(location.file);
  // The PostgreSQL client is loaded only if it is used.
  const { openPostgres } = await import("../store/postgres/open.ts");
  return openPostgres(location.url);
}
