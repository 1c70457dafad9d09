import { readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULE_EXTENSION, PACKAGE_ROOT } from "../../core/input/project.ts";
import { sha256 } from "./job.ts";

/**
 * SHA-256 of a module and all that it imports, directly or not: what decides a
 * result, and nothing else, so that a new figure does not make old results
 * stale. Modules that are started as threads count too, types do not, and of
 * packages the version does.
 */
export function codeOf(module: URL): string {
  const found = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const specifier of importsOf(readFileSync(path, "utf8"))) {
      if (specifier.startsWith("."))
        visit(resolve(dirname(path), specifier.replace(/\.ts$/, MODULE_EXTENSION)));
      else if (!specifier.startsWith("node:")) packages.add(packageOf(specifier));
    }
  };
  visit(fileURLToPath(module));
  const files = [...found].map((path) => {
    const name = relative(PACKAGE_ROOT, path).replaceAll(sep, "/");
    return `${name} ${sha256(readFileSync(path))}\n`;
  });
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(resolve(PACKAGE_ROOT, "package.json"), "utf8"),
  ) as Record<string, Readonly<Record<string, string>> | undefined>;
  const ranges = { ...peerDependencies, ...dependencies };
  const versions = [...packages].map((name) => `${name} ${ranges[name]}\n`);
  return sha256([...files, ...versions].sort().join(""));
}

/** Imports, exports from, dynamic imports, and new URL("./x.ts", ..). */
function importsOf(text: string): string[] {
  const patterns = [
    /^\s*(?:import|export)\b(?!\s+type\b)(?:[^"';]*?\bfrom\b)?\s*"([^"]+)"/gm,
    /\bimport\s*\(\s*"([^"]+)"/g,
    /\bnew URL\(\s*"(\.[^"]+\.ts)"/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
