import { isDeepStrictEqual } from "node:util";
import type { ConfigurationChange } from "../../api/configuration.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Config } from "../config/config.ts";
import { checkConfig } from "../config/read-config.ts";
import { PROVIDER_NAMES, sendsTokensElsewhere } from "../providers/providers.ts";
import {
  hideSecrets,
  type Json,
  type JsonObject,
  keepSecrets,
  placeholdersIn,
  type Secrets,
  secretsOf,
  showSecrets,
} from "./secrets.ts";

/** The parts of a configuration that are managed in the store, in the form of joust.yaml. */
export interface Document {
  readonly providers: JsonObject;
  readonly models: JsonObject;
  readonly routers: JsonObject;
  readonly metrics: JsonObject;
}

/** The document of an installation that nobody has changed yet. */
export const FIRST_DOCUMENT: Document = {
  providers: {},
  models: {},
  routers: { auto: {} },
  metrics: {},
};

/** A document with its secrets. */
export interface Content {
  readonly document: Document;
  readonly secrets: Secrets;
}

/** The content of a configuration that a file or a program holds. */
export function contentOf({ providers, models, routers, metrics }: Config): Content {
  const sections = { providers, models, routers, metrics } as unknown as Json;
  const { value, secrets } = hideSecrets(sections, [], {}, new Map());
  return { document: value as unknown as Document, secrets };
}

/** A content after some changes. */
export interface Changed extends Content {
  /** Placeholders of the secrets that the changes contain in the clear. */
  readonly entered: ReadonlySet<string>;
}

/**
 * The content after some changes. Secrets in the changes are replaced by placeholders; those that a changed entry
 * does not mention are kept.
 */
export function applyChanges(content: Content, changes: readonly ConfigurationChange[]): Changed {
  let { document, secrets } = content;
  const entered = new Set<string>();
  for (const { section, name, value } of changes) {
    const { [name]: _, ...others } = document[section];
    if (value === null) {
      document = { ...document, [section]: others };
      continue;
    }
    const path = [section, name];
    const kept = keepSecrets(value as JsonObject, document[section][name], path);
    const placed = placeholdersIn(document as unknown as Json);
    const hidden = hideSecrets(kept, path, secrets, placed);
    secrets = { ...secrets, ...hidden.secrets };
    for (const placeholder of hidden.entered) entered.add(placeholder);
    // A changed entry keeps its place.
    document = { ...document, [section]: { ...document[section], [name]: hidden.value } };
  }
  return { document, secrets: secretsOf(document as unknown as Json, secrets), entered };
}

/**
 * The configuration of a document, checked like a file. Settings of server, store and keys come from `base`. Text
 * like `${NAME}` is not replaced: whoever may change the configuration shall not read the environment through it.
 */
export function configOf({ document, secrets }: Content, base: Config): Config {
  const shown = showSecrets(document as unknown as Json, secrets) as JsonObject;
  const config = checked(shown);
  for (const [name, { policy }] of Object.entries(config.routers)) {
    if (!/[\\/]|\.[cm]?[jt]s$/.test(policy.name)) continue;
    throw new InputError(
      { file: FILE, field: `routers.${name}.policy` },
      "is a file, which would run code on the gateway's machine",
      "write it in joust.yaml, or choose a policy of Joust",
    );
  }
  for (const [name, provider] of Object.entries(config.providers)) {
    if (provider.credentials === undefined || !sendsTokensElsewhere(name, provider)) continue;
    throw new InputError(
      { file: FILE, field: `providers.${name}.credentials` },
      "would send tokens of an account of the gateway's machine to an address of yours",
      "remove the provider's own addresses, or write the provider in joust.yaml",
    );
  }
  const { server, store, keys, sandbox } = base;
  return { ...config, server, store, keys, sandbox };
}

/** Checks the configuration. Errors do not name files of this machine. */
export function checked(value: unknown): Config {
  try {
    return checkConfig(value, FILE, PROVIDER_NAMES);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { field, problem, hint } = error;
    const isReference = hint.endsWith("describes the field");
    throw new InputError({ file: FILE, field }, problem, isReference ? "correct it" : hint);
  }
}

/** File name that errors about fields of the configuration have. */
const FILE = "joust.yaml";

/** Values of the changed entries before and after a change, by section and name. */
export function differences(
  before: Document,
  after: Document,
  changes: readonly Pick<ConfigurationChange, "section" | "name">[],
): { readonly target: string; readonly before: JsonObject; readonly after: JsonObject } {
  const entries = (document: Document) =>
    Object.fromEntries(
      changes.map(({ section, name }) => [`${section}.${name}`, document[section][name] ?? null]),
    );
  const target = changes.map(({ section, name }) => `${section}.${name}`).join(", ");
  return { target, before: entries(before), after: entries(after) };
}

/** Entries in which two documents differ. */
export function changedEntries(
  before: Document,
  after: Document,
): Pick<ConfigurationChange, "section" | "name">[] {
  return SECTIONS.flatMap((section) => {
    const names = new Set([...Object.keys(before[section]), ...Object.keys(after[section])]);
    return [...names]
      .filter((name) => !isDeepStrictEqual(before[section][name], after[section][name]))
      .map((name) => ({ section, name }));
  });
}

const SECTIONS = ["providers", "models", "routers", "metrics"] as const;
