import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../core/input/project.ts";

/** Version of this package. */
export function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
