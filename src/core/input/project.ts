/**
 * Files of this package that are found at run time. A checkout runs the TypeScript
 * in `src/`; the published package runs the JavaScript in `dist/`, which has the
 * same folders.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder that holds package.json: the checkout, or the installed package. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Extension of the modules that are running: `.ts` in a checkout, `.js` in the published package. */
export const MODULE_EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/**
 * URL of the file to run for the module with this TypeScript source. Worker threads
 * and modules that are imported by URL are named with it.
 */
export function moduleUrl(source: URL): URL {
  return new URL(source.href.replace(/\.ts$/, MODULE_EXTENSION));
}

/** The module that `import "joust"` loads. */
export const LIBRARY = new URL(`../../index${MODULE_EXTENSION}`, import.meta.url);

/** Version of this package. */
export function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
