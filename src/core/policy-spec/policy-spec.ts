import { access } from "node:fs/promises";
import { basename, isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkOptions, checkRemoved } from "../bandit/options.ts";
import { POLICIES } from "../bandit/policies/index.ts";
import type { Options, PolicyKind } from "../bandit/policy.ts";
import { hintOf, JoustError } from "../errors/joust-error.ts";
import { checksum } from "../input/checksum.ts";
import { InputError } from "../input/input-error.ts";
import { didYouMean } from "../input/nearest.ts";
import { readError } from "../input/text.ts";
import { ROUTER_ABOUT, ROUTER_DEFAULTS, type RouterSettings } from "../router.ts";
import { describeThrown, importPolicy, loadPolicy } from "./load-policy.ts";

/** A policy with its options, as plain values that can be sent to a worker. */
export interface PolicySpec {
  /** The text that the user typed. Results use it as the name. */
  readonly name: string;
  readonly kind: string;
  /** All options of the policy, with the given values. */
  readonly options: Options;
  readonly router: Partial<RouterSettings>;
  /** The file of a policy of the user, and its SHA-256. */
  readonly module?: { readonly url: string; readonly sha256: string } | undefined;
}

export interface Contender {
  readonly kind: PolicyKind;
  readonly options: Options;
  readonly router?: Partial<RouterSettings>;
}

/**
 * Parses `a,b:key=value:key=value,./mine.ts`: names of policies, or files whose default export is a
 * PolicyKind, each with options. Paths are relative to `folder`. An entry of `defaults` replaces
 * the default of a policy if the policy has an option of that name and allows that value.
 */
export async function parsePolicies(
  text: string,
  folder: string,
  defaults: Options = {},
): Promise<PolicySpec[]> {
  const specs: PolicySpec[] = [];
  for (const typed of text.split(",").map((part) => part.trim())) {
    const spec = await parsePolicy(typed, folder, defaults);
    if (specs.some(({ name }) => name === spec.name)) {
      throw refuse(spec.name, "is named twice", "name it once, or with other options");
    }
    specs.push(spec);
  }
  return specs;
}

/** Loads the policy of a spec. */
export async function contenderOf({ kind, module, ...rest }: PolicySpec): Promise<Contender> {
  const found = await (module ? importPolicy(module.url, rest.name) : loadPolicy(kind));
  return { kind: found, ...rest };
}

async function parsePolicy(typed: string, folder: string, others: Options): Promise<PolicySpec> {
  const [name = "", ...pairs] = typed.split(":");
  const own = /\.(ts|mts|js|mjs)$/.test(name);
  const kind = own ? await ownKind(name, folder) : knownKind(name);
  const options: Record<string, Options[string]> = { ...kind.defaults };
  for (const [key, value] of Object.entries(others)) {
    if (kind.about?.[key]?.oneOf?.includes(String(value))) options[key] = value;
  }
  const router: Record<string, Options[string]> = {};
  for (const pair of pairs) {
    const [key = "", ...value] = pair.split("=");
    const [target, defaults] = Object.hasOwn(kind.defaults, key)
      ? [options, kind.defaults]
      : [router, ROUTER];
    target[key] = readValue(
      typed,
      kind,
      key,
      value.length > 0 ? value.join("=") : undefined,
      Object.hasOwn(defaults, key) ? defaults[key] : undefined,
    );
  }
  refusing({ name: typed }, () => {
    checkOptions(kind.name, options, kind.about);
    checkOptions("the router", router, ROUTER_ABOUT);
  });
  return {
    // An absolute path would put a folder of this machine into the results.
    name: isAbsolute(name) ? [basename(name), ...pairs].join(":") : typed,
    kind: kind.name,
    options,
    router,
    ...(own && { module: await moduleOf(resolve(folder, name)) }),
  };
}

/** Runs `make`. A bad value of an option, and whatever a user's module throws, becomes an InputError. */
export function refusing<T>(
  { name, module }: Pick<PolicySpec, "name" | "module">,
  make: () => T,
): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof JoustError || error instanceof RangeError) {
      const hint = hintOf(error) ?? "the command policies lists every option with its values";
      throw refuse(name, error.message, hint);
    }
    throw module ? refuse(name, `create failed: ${describeThrown(error)}`, "correct it") : error;
  }
}

/** Options of the router, which every policy accepts. */
const ROUTER: Options = { ...ROUTER_DEFAULTS };

function knownKind(name: string): PolicyKind {
  const kind = POLICIES.find((policy) => policy.name === name);
  if (kind) return kind;
  const names = POLICIES.map((policy) => policy.name);
  throw refuse(
    name,
    name === "" ? "names no policy" : "is not a policy",
    `${didYouMean(name, names)}there are ${names.join(", ")}, and files of your own: ./mine.ts`,
  );
}

/** The value of an option, in the type of its default. */
function readValue(
  typed: string,
  kind: PolicyKind,
  key: string,
  text: string | undefined,
  known: Options[string] | undefined,
): Options[string] {
  const own = Object.entries(kind.defaults).map(([name, value]) => `${name}=${value}`);
  if (known === undefined) {
    refusing({ name: typed }, () => checkRemoved(kind, key));
    const names = [...Object.keys(kind.defaults), ...Object.keys(ROUTER)];
    throw refuse(
      typed,
      `has no option "${key}"`,
      `${didYouMean(key, names)}${kind.name} takes ${own.length > 0 ? own.join(", ") : "no options of its own"}; every policy takes ${Object.keys(ROUTER).join(", ")}`,
    );
  }
  if (text === undefined || text === "") {
    throw refuse(typed, `gives "${key}" no value`, `write ${key}=${known}`);
  }
  if (typeof known === "string") return text;
  if (typeof known === "number") {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value)) return value;
    throw refuse(typed, `${key} is "${text}", not a number`, `write for example ${key}=${known}`);
  }
  if (text === "true" || text === "false") return text === "true";
  throw refuse(typed, `${key} is "${text}"`, `write ${key}=true or ${key}=false`);
}

async function ownKind(name: string, folder: string): Promise<PolicyKind> {
  const path = resolve(folder, name);
  await access(path).catch((error: unknown) => {
    throw readError(name, error);
  });
  return importPolicy(pathToFileURL(path).href, name);
}

async function moduleOf(path: string): Promise<{ url: string; sha256: string }> {
  return { url: pathToFileURL(path).href, sha256: await checksum([path]) };
}

function refuse(spec: string, problem: string, hint: string): InputError {
  return new InputError({ file: spec === "" ? "--policies" : `--policies ${spec}` }, problem, hint);
}
