/** The options --data, --database, --router and --config, which say where a log is and which part of it is meant. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { checkedAt, InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { readKey } from "../../store/seal.ts";
import type { Store } from "../../store/store.ts";
import { folder } from "./flags.ts";

export interface StoreFlags {
  readonly data?: string | undefined;
  readonly database?: string | undefined;
  readonly router?: string | undefined;
}

export const DEFAULT_DATA = "joust-data";
export const DEFAULT_ROUTER = "auto";

export function withStoreFlags(command: Command): Command {
  return command
    .option(
      "--data <dir>",
      `data folder of joust serve (default: ${DEFAULT_DATA})`,
      folder("--data"),
    )
    .option(
      "--database <url>",
      "PostgreSQL address instead of --data: postgres://user:password@host/name (default: $JOUST_DATABASE, which keeps the password out of the list of processes)",
    );
}

export function withRouterFlags(command: Command): Command {
  return withStoreFlags(command).option(
    "--router <name>",
    `router (default: the only one, otherwise ${DEFAULT_ROUTER})`,
  );
}

/** Address of the PostgreSQL database that the options or the environment name, or undefined for a data folder. */
export function databaseOf({ data, database }: StoreFlags): string | undefined {
  if (data !== undefined && database !== undefined) {
    throw new InputError({ file: "--database" }, "is given with --data", "give only one of them");
  }
  return database ?? (data === undefined ? process.env.JOUST_DATABASE : undefined);
}

/** The options with which `joust serve` would use the same configuration. */
export function configurationFlags(flags: StoreFlags & { readonly config?: string | undefined }) {
  const { config, data = DEFAULT_DATA } = flags;
  return { config, data, database: databaseOf(flags) };
}

/** The store that the options name, or else that of a configuration, to which JOUST_DATABASE was already applied. */
export function storeOf(
  { store: { url } }: { readonly store: { readonly url?: string | undefined } },
  { data, database = data === undefined ? url : undefined }: StoreFlags,
): StoreFlags {
  return database === undefined ? { data: data ?? DEFAULT_DATA } : { database };
}

/** Opens the store, calls `use` and closes the store. A missing file is an error unless it may be created. */
export async function withStore<T>(
  flags: StoreFlags,
  use: (store: Store) => Promise<T>,
  missing: "refuse" | "create" = "refuse",
): Promise<T> {
  const url = databaseOf(flags);
  const file = fileOf(flags);
  if (url === undefined && missing === "refuse") checkExists(file);
  if (url !== undefined && !/^postgres(ql)?:\/\//.test(url)) {
    throw new InputError(
      { file: "--database" },
      "is not a PostgreSQL address",
      "write --database postgres://user:password@host/name",
    );
  }
  const { openStore } = await import("../../gateway/open-store.ts");
  const store = await openStore(url === undefined ? { file } : { url });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The main file in the data folder. */
export function fileOf({ data = DEFAULT_DATA }: StoreFlags): string {
  return join(data, "joust.db");
}

export function checkExists(file: string): void {
  if (existsSync(file)) return;
  const hint = "give the data folder of joust serve with --data, or a database with --database";
  throw new InputError({ file }, "does not exist", hint);
}

/** Opens the store and calls `use` with the router that the options name. */
export function withRouter<T>(
  flags: StoreFlags,
  use: (store: Store, router: string) => Promise<T>,
): Promise<T> {
  return withStore(flags, async (store) => use(store, await routerOf(store, flags.router)));
}

/** The router that is meant. It must occur in the log. */
async function routerOf(store: Store, flag: string | undefined): Promise<string> {
  const known = await store.routers();
  const name = routerName(known, flag);
  if ((await store.head(name)) > 0) return name;
  if (known.length > 0) return knownRouter(known, flag);
  throw new InputError(
    { file: "--router" },
    `the log has no router "${name}"`,
    "the log is empty: start joust serve first, or import votes",
  );
}

function routerName(known: readonly string[], flag: string | undefined): string {
  return flag ?? (known.length === 1 ? known[0]! : DEFAULT_ROUTER);
}

/** The router that --router names, by default the only one, otherwise `auto`. It must be known. */
export function knownRouter(known: readonly string[], flag: string | undefined): string {
  const name = routerName(known, flag);
  if (known.includes(name)) return name;
  throw new InputError(
    { file: "--router" },
    `there is no router "${name}"`,
    `${didYouMean(name, known)}choose one of ${known.join(", ")}`,
  );
}

/** The key of encrypted prompts from JOUST_STORE_KEY, if it is set. */
export function storeKey({ JOUST_STORE_KEY: text }: NodeJS.ProcessEnv): Uint8Array | undefined {
  if (text === undefined) return undefined;
  return checkedAt({ file: "JOUST_STORE_KEY" }, () => readKey(text));
}
