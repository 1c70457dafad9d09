import { access } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/input/input-error.ts";

/** The files of a report. The file runs.jsonl beside them shows that a simulation wrote them. */
export const FILES = [
  "result.json",
  "regret.svg",
  "pareto.svg",
  "report.html",
  "table.csv",
  "table.tex",
  "paired.csv",
  "paired.tex",
] as const;

/** Refuses a folder in which the report would overwrite files that no simulation has written. */
export async function refuseForeign(dir: string): Promise<void> {
  if (await exists(join(dir, "runs.jsonl"))) return;
  const found = [];
  for (const name of FILES) if (await exists(join(dir, name))) found.push(name);
  if (found.length === 0) return;
  throw new InputError(
    { file: "--out" },
    `${dir} has ${found.join(", ")} but no runs.jsonl, so no simulation has written these files`,
    "choose another folder, or add --overwrite to replace the files",
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
