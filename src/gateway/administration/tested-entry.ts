import type { Config } from "../config/config.ts";
import { PROVIDER_NAMES } from "../providers/providers.ts";
import { HttpError } from "../wire/http-error.ts";
import { applyChanges, type Content, configOf, FIRST_DOCUMENT } from "./document.ts";
import { checkOrigins, type Described } from "./secret-origins.ts";
import { type JsonObject, placeholdersIn, showSecrets } from "./secrets.ts";

export interface TestedEntry {
  /** The entry with its secrets. */
  readonly entry: JsonObject;
  /** The entry with placeholders. */
  readonly shown: JsonObject;
  /** Whether the entry has secrets that are stored and that the request does not contain. */
  readonly usesStored: boolean;
}

/**
 * The entry of a provider as it would be served after a change to `value`, or as it is served if there is no `value`.
 * Throws if it is invalid or does not exist, or if a stored secret would be sent to an origin for which it was not
 * entered.
 */
export function testedEntry(
  present: Described,
  base: Config,
  name: string,
  value: JsonObject | undefined,
): TestedEntry {
  if (value === undefined) return servedEntry(present.content, name);
  const change = { section: "providers", name, value } as const;
  const { document, secrets, entered } = applyChanges(present.content, [change]);
  const shown = document.providers[name] as JsonObject;
  const providers = { [name]: shown };
  const content = { document: { ...FIRST_DOCUMENT, providers }, secrets };
  checkOrigins(present, { ...present, content, config: configOf(content, base) }, entered);
  const placeholders = [...placeholdersIn({ providers }).values()];
  return {
    entry: showSecrets(shown, secrets, ["providers", name]) as JsonObject,
    shown,
    usesStored: placeholders.some((placeholder) => !entered.has(placeholder)),
  };
}

/** The entry of a provider in the configuration. A known provider needs none. */
function servedEntry({ document, secrets }: Content, name: string): TestedEntry {
  const isOwn = Object.hasOwn(document.providers, name);
  const found = isOwn ? (document.providers[name] as JsonObject) : undefined;
  if (found === undefined && !PROVIDER_NAMES.includes(name)) {
    throw new HttpError(400, `there is no provider ${name}`, {
      hint: "correct the name, or send `value`: the entry to test",
      code: "provider_unknown",
      param: "name",
    });
  }
  const shown = found ?? {};
  const usesStored = placeholdersIn({ providers: { [name]: shown } }).size > 0;
  const entry = showSecrets(shown, secrets, ["providers", name]) as JsonObject;
  return { entry, shown, usesStored };
}
