import { readdirSync, readFileSync } from "node:fs";
import { InputError } from "../core/input/input-error.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The numbered SQL files for a database, in order. */
export function migrationsOf(database: "sqlite" | "postgres"): Migration[] {
  const folder = new URL(`./migrations/${database}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name) => ({
    number: Number.parseInt(name, 10),
    name,
    sql: readFileSync(new URL(name, folder), "utf8"),
  }));
}

/** The migrations that have not run yet. Refuses a database that a newer version has migrated. */
export function migrationsToRun(
  all: readonly Migration[],
  done: readonly number[],
  database: string,
): Migration[] {
  const newest = all.at(-1)!.number;
  const applied = Math.max(0, ...done);
  if (applied > newest) {
    throw new InputError(
      { file: database },
      `was migrated by a newer version of joust (migration ${applied}; this version knows ${newest})`,
      "upgrade joust, or restore a backup from before the upgrade",
    );
  }
  return all.filter(({ number }) => !done.includes(number));
}
