/** Where the log is: --data or --database, as every command that has them reads them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import type { Store } from "../../store/store.ts";
import { folder } from "./flags.ts";

export interface StoreFlags {
  readonly data?: string | undefined;
  readonly database?: string | undefined;
  readonly router?: string | undefined;
}

/** As `serve` has it. */
export const DEFAULT_DATA = "joust-data";
export const DEFAULT_ROUTER = "auto";

export function withStoreFlags(command: Command): Command {
  return command
    .option(
      "--data <dir>",
      `the data folder of joust serve (default ${DEFAULT_DATA})`,
      folder("--data"),
    )
    .option(
      "--database <url>",
      "a PostgreSQL address in its place: postgres://user:password@host/name",
    )
    .option("--router <name>", `the router (default ${DEFAULT_ROUTER}, or the only one)`);
}

/** Opens it for `use`, and closes it whatever happens. */
export async function withStore<T>(
  { data, database }: StoreFlags,
  use: (store: Store) => Promise<T>,
  missing: "refuse" | "create" = "refuse",
): Promise<T> {
  if (data !== undefined && database !== undefined) {
    throw new InputError({ file: "--database" }, "is given with --data", "give one of them");
  }
  const store =
    database === undefined
      ? await openFile(data ?? DEFAULT_DATA, missing)
      : await openDatabase(database);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function openFile(data: string, missing: "refuse" | "create"): Promise<Store> {
  const file = join(data, "joust.db");
  if (missing === "refuse" && !existsSync(file)) {
    throw new InputError(
      { file },
      "does not exist",
      "name the data folder of joust serve by --data, or a database by --database",
    );
  }
  const { openSqlite } = await import("../../store/sqlite/open.ts");
  return openSqlite(file);
}

async function openDatabase(url: string): Promise<Store> {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new InputError(
      { file: "--database" },
      "is no PostgreSQL address",
      "write --database postgres://user:password@host/name",
    );
  }
  const { openPostgres } = await import("../../store/postgres/open.ts");
  return openPostgres(url);
}

/** The router that was meant; something must have been logged for it. */
export async function routerOf(store: Store, flag: string | undefined): Promise<string> {
  const known = await store.routers();
  const name = flag ?? (known.length === 1 ? known[0]! : DEFAULT_ROUTER);
  if (known.includes(name) || (await store.head(name)) > 0) return name;
  throw new InputError(
    { file: "--router" },
    `the log knows no router "${name}"`,
    known.length > 0
      ? `${didYouMean(name, known)}it knows ${known.join(", ")}`
      : "it is empty: start joust serve, or import votes",
  );
}

/** A moment: 2026-11-15, 2026-11-15T12:00, with a zone or in local time. */
export function moment(flag: string): (text: string) => number {
  return (text) => {
    const time = Date.parse(text);
    if (!Number.isNaN(time)) return time;
    throw new InputError(
      { file: flag },
      `"${text}" is no time`,
      `write for example ${flag} 2026-11-15T12:00:00Z`,
    );
  };
}
