import { registerHooks } from "node:module";
import { basename } from "node:path";
import type { PolicyKind } from "../bandit/policy.ts";
import { InputError } from "../input/input-error.ts";
import { LIBRARY, moduleUrl } from "../input/project.ts";
import { checkKind } from "./policy-shape.ts";

/**
 * File of each policy of the project. A job imports the file of its own policy and no
 * other, and its cache key depends on that file alone.
 */
const FILES: Readonly<Record<string, URL>> = {
  "best-theta": new URL("../bandit/policies/best-theta.ts", import.meta.url),
  joust: new URL("../bandit/policies/joust.ts", import.meta.url),
  random: new URL("../bandit/policies/baselines.ts", import.meta.url),
  "best-fixed": new URL("../bandit/policies/baselines.ts", import.meta.url),
  oracle: new URL("../bandit/policies/baselines.ts", import.meta.url),
  "zero-feedback": new URL("../bandit/policies/baselines.ts", import.meta.url),
  "static-bradley-terry": new URL("../bandit/policies/static-bradley-terry.ts", import.meta.url),
  "static-matrix-factorization": new URL(
    "../bandit/policies/static-matrix-factorization.ts",
    import.meta.url,
  ),
  "static-mlp": new URL("../bandit/policies/static-mlp.ts", import.meta.url),
  "static-ridge": new URL("../bandit/policies/static-ridge.ts", import.meta.url),
  "static-knn": new URL("../bandit/policies/static-knn.ts", import.meta.url),
  greedy: new URL("../bandit/policies/greedy.ts", import.meta.url),
  thompson: new URL("../bandit/policies/thompson.ts", import.meta.url),
  "fgts-cdb": new URL("../bandit/policies/fgts-cdb.ts", import.meta.url),
  "max-pair-ucb": new URL("../bandit/policies/max-pair-ucb.ts", import.meta.url),
  maxinp: new URL("../bandit/policies/maxinp.ts", import.meta.url),
  colstim: new URL("../bandit/policies/colstim.ts", import.meta.url),
  vacdb: new URL("../bandit/policies/vacdb.ts", import.meta.url),
  "double-ts": new URL("../bandit/policies/double-ts.ts", import.meta.url),
  eagle: new URL("../bandit/policies/eagle.ts", import.meta.url),
  "matrix-factorization": new URL("../bandit/policies/matrix-factorization.ts", import.meta.url),
  "sw-bradley-terry": new URL("../bandit/policies/sw-bradley-terry.ts", import.meta.url),
  "knn-bradley-terry": new URL("../bandit/policies/knn-bradley-terry.ts", import.meta.url),
  "cluster-bradley-terry": new URL("../bandit/policies/cluster-bradley-terry.ts", import.meta.url),
  mixllm: new URL("../bandit/policies/mixllm.ts", import.meta.url),
  metallm: new URL("../bandit/policies/metallm.ts", import.meta.url),
};

/** The module that defines a policy of the project. */
export function policyModule(name: string): URL {
  const file = FILES[name];
  if (!file) throw new RangeError(`there is no policy ${name}`);
  return moduleUrl(file);
}

/** A policy of the project, imported by itself. */
export async function loadPolicy(name: string): Promise<PolicyKind> {
  const exports = Object.values((await import(policyModule(name).href)) as Record<string, unknown>);
  const isPolicy = (value: unknown): value is PolicyKind =>
    typeof value === "object" && value !== null && "create" in value && "name" in value;
  return exports.filter(isPolicy).find((kind) => kind.name === name)!;
}

/** Imports the policy in a file of the user. Error messages call the file `name`. */
export async function importPolicy(url: string, name: string): Promise<PolicyKind> {
  provideLibrary();
  const module: { default?: unknown } = await import(url).catch((error: unknown) => {
    throw new InputError(
      { file: `--policies ${name}` },
      `cannot be imported: ${describeThrown(error)}`,
      `correct it: npx node ${name} shows where`,
    );
  });
  return checkKind(name, module.default);
}

let isProvided = false;

/**
 * Makes `import "joust"` mean the running package in all modules of this thread, so that
 * a policy works in any folder, with a global installation and in a checkout.
 */
function provideLibrary(): void {
  if (isProvided) return;
  isProvided = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "joust" ? { url: LIBRARY.href, shortCircuit: true } : next(specifier, context),
  });
}

/**
 * Describes an error as `TypeError: no such model (at mine.ts:2:34)`. The place is the
 * innermost stack frame outside this program.
 */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frame = [...(error.stack ?? "").matchAll(FRAME)].find(([, url]) => !url!.startsWith(SRC));
  const place = frame ? ` (at ${[basename(frame[1]!), ...frame.slice(2)].join("")})` : "";
  return `${error.name}: ${error.message}${place}`;
}

const SRC = new URL("../..", import.meta.url).href;
const FRAME = /(file:\/\/[^\s()]+?)(:\d+)((?::\d+)?)(?=[\s)]|$)/g;
