import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe } from "vitest";
import { invalidValue } from "../../core/errors/joust-error.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** The project's own data. */
export const OWN_QUERIES = join(ROOT, "data/queries.jsonl");
export const OWN_SCORES = join(ROOT, "data/scores/routerbench.csv");

const folder = process.env.JOUST_DATA ?? resolve(ROOT, "../shared/data");
const found = existsSync(folder);

/** A file of the public data sets: in JOUST_DATA, or in shared/data beside the checkout. */
export function publicData(name: string): string {
  return join(folder, name);
}

/** Tests that need the public data sets. They are skipped without the data, unless JOUST_DATA names it. */
export function describeWithPublicData(title: string, tests: () => void): void {
  if (!found && process.env.JOUST_DATA !== undefined) {
    throw invalidValue(`JOUST_DATA is ${folder}, which does not exist`, "correct or unset it");
  }
  describe.skipIf(!found)(`${title} (needs JOUST_DATA, or ../shared/data)`, tests);
}
