import { existsSync, readFileSync } from "node:fs";
import { findPackageJSON, stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { LIBRARY, MODULE_EXTENSION, PACKAGE_ROOT } from "../../core/input/project.ts";
import { codeOf } from "../../core/input/system-error.ts";
import { sha256 } from "./hash.ts";

/**
 * Hashes the code that decides a job's result: some modules and everything they
 * import, directly or not. Comments, formatting, types and the places of files do
 * not count. Modules that are started as threads count too. A package counts by its version.
 * "joust", which a policy of the user may import, counts as this program.
 *
 * The hash of a module covers its statements, in which the hash of each imported
 * module stands in place of the path.
 */
export class CodeHashes {
  readonly #read: (path: string) => string;
  readonly #statements = new Map<string, string>();
  readonly #hashes = new Map<string, string>();

  /** `read` is replaced in tests, to edit a file without writing it. */
  constructor(read = (path: string) => readFileSync(path, "utf8")) {
    this.#read = read;
  }

  of(modules: readonly URL[]): string {
    const id = modules.join(" ");
    const known = this.#hashes.get(id);
    if (known !== undefined) return known;
    const hash = sha256(...modules.map((module) => this.#hash(fileURLToPath(module), new Map())));
    this.#hashes.set(id, hash);
    return hash;
  }

  /** Paths of the modules that count. */
  filesOf(modules: readonly URL[]): string[] {
    const found = new Map<string, string>();
    for (const module of modules) this.#hash(fileURLToPath(module), found);
    return [...found.keys()];
  }

  /** `found` holds the modules seen so far. A module in an import cycle may have no hash yet. */
  #hash(path: string, found: Map<string, string>): string {
    const known = found.get(path);
    if (known !== undefined) return known;
    found.set(path, `cycle ${found.size}`);
    const code = this.#statementsOf(path).replace(IMPORT, (all, before: string, name: string) => {
      if (name === "joust") return `${before}${this.#hash(fileURLToPath(LIBRARY), found)}`;
      if (!name.startsWith(".")) return `${all} ${versionOf(name)}`;
      const module = moduleAt(dirname(path), name);
      return module === undefined ? all : `${before}${this.#hash(module, found)}`;
    });
    const hash = sha256(code);
    found.set(path, hash);
    return hash;
  }

  #statementsOf(path: string): string {
    const known = this.#statements.get(path) ?? statementsIn(this.#read(path));
    this.#statements.set(path, known);
    return known;
  }
}

/** `from "x"`, `import "x"`, `import("x")` and `new URL("./x.ts", ...)` in normalised code. */
const IMPORT = /(\bfrom |\bimport |\bimport\(|\bnew URL\()["']([^"']+)["']/g;

/** The published package runs `.js` files whose code still names `.ts` files in URLs. */
function moduleAt(folder: string, name: string): string | undefined {
  if (!/\.[cm]?[jt]s$/.test(name)) return undefined;
  const path = resolve(folder, name);
  return [path, path.replace(/\.ts$/, MODULE_EXTENSION)].find((one) => existsSync(one));
}

/** The text without types and comments, in the layout of Node's TypeScript printer. */
function statementsIn(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // the function is marked as experimental
  try {
    return stripTypeScriptTypes(text, { mode: "transform" });
  } finally {
    process.emitWarning = emitWarning;
  }
}

const { dependencies, peerDependencies } = readPackage(join(PACKAGE_ROOT, "package.json"));

interface PackageJson {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/**
 * Version of a package: the pinned one, or the installed one of a peer dependency.
 * Empty for Node's own modules and for packages of the user.
 */
function versionOf(specifier: string): string {
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  return name in peerDependencies ? installedVersion(name) : (dependencies[name] ?? "");
}

function installedVersion(name: string): string {
  try {
    const file = findPackageJSON(name, import.meta.url);
    return file === undefined ? "" : readPackage(file).version;
  } catch (error) {
    if (codeOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    return "";
  }
}

function readPackage(file: string): PackageJson {
  return JSON.parse(readFileSync(file, "utf8")) as PackageJson;
}
