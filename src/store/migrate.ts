import { readdirSync, readFileSync } from "node:fs";
import { InputError } from "../core/input/input-error.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The numbered SQL files of a database, in order. */
export function migrationsOf(database: "sqlite" | "postgres"): Migration[] {
  const folder = new URL(`./migrations/${database}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name) => ({
    number: Number.parseInt(name, 10),
    name,
    sql: readFileSync(new URL(name, folder), "utf8"),
  }));
}

/** Those still to be run; refuses a database that a newer program has made. */
export function migrationsToRun(
  all: readonly Migration[],
  done: readonly number[],
  where: string,
): Migration[] {
  const newest = all.at(-1)!.number;
  const ahead = Math.max(0, ...done);
  if (ahead > newest) {
    throw new InputError(
      { file: where },
      `has the tables of a newer version (${ahead}, this one knows ${newest})`,
      "upgrade joust, or restore a backup of before its upgrade",
    );
  }
  return all.filter(({ number }) => !done.includes(number));
}
