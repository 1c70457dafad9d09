/** The rule that a stored secret is only sent to the origins (scheme, host and port) for which it was entered. */
import { InputError } from "../../core/input/input-error.ts";
import type { Config, Environment } from "../config/config.ts";
import { SANDBOX } from "../config/references.ts";
import { PROVIDER_NAMES, providerOf } from "../providers/providers.ts";
import type { Content, Document } from "./document.ts";
import { type Json, placeholdersIn, replacePlaceholders } from "./secrets.ts";

/** A document, the configuration that it describes, and the environment of the gateway. */
export interface Described {
  readonly content: Content;
  readonly config: Config;
  readonly env: Environment;
}

/**
 * Throws if a change would send a stored secret to an origin for which it was not entered. Whoever may change the
 * configuration could otherwise read the secret at an address of their own. `entered` has the placeholders of the
 * secrets that the change contains in the clear.
 */
export function checkOrigins(
  before: Described,
  after: Described,
  entered: ReadonlySet<string>,
): void {
  const stored = [...placeholdersIn(before.content.document as unknown as Json)];
  for (const [place, placeholder] of placeholdersIn(after.content.document as unknown as Json)) {
    if (entered.has(placeholder)) continue;
    const places = stored.filter(([, other]) => other === placeholder);
    const given = new Set(places.flatMap(([old]) => originsOf(before, old.split("\n"))));
    const path = place.split("\n");
    const other = originsOf(after, path).find((origin) => !given.has(origin));
    if (other === undefined) continue;
    throw new InputError(
      { file: "the configuration", field: path.join(".") },
      `was entered for ${[...given].join(", ") || "no address"} and would be sent to ${other}`,
      "enter it again for the new address, or remove it with null in its place",
    );
  }
}

/**
 * The document of an earlier revision with the present secrets, because a secret that was replaced since then may be
 * invalid. If that would send a present secret to an origin for which it was not entered, the earlier secret is used.
 * `kept` has the fields whose present secret replaces another one of the earlier revision.
 */
export function revertedDocument(
  now: Described,
  earlier: Described,
): { readonly document: Document; readonly kept: readonly string[] } {
  const kept: string[] = [];
  const placed = placeholdersIn(now.content.document as unknown as Json);
  const document = replacePlaceholders(
    earlier.content.document as unknown as Json,
    (path, placeholder) => {
      const present = placed.get(path.join("\n"));
      const given = originsOf(now, path);
      const isSafe = originsOf(earlier, path).every((origin) => given.includes(origin));
      if (!isSafe || present === undefined || present === placeholder) return placeholder;
      kept.push(path.join("."));
      return present;
    },
  ) as unknown as Document;
  return { document, kept };
}

/**
 * The origins to which the secret at a path is sent: none, if its provider does not exist or the provider's address is
 * not complete.
 */
function originsOf(
  { config: { providers, models }, env }: Omit<Described, "content">,
  [section, entry = "", , deployment]: readonly string[],
): string[] {
  const name =
    section === "providers" ? entry : models[entry]?.deployments?.[Number(deployment)]?.provider;
  if (name === undefined) return [];
  if (!providers[name] && (name === SANDBOX || !PROVIDER_NAMES.includes(name))) return [];
  try {
    const { url, dialects } = providerOf(name, providers[name], env);
    const { chat = url, responses = url, messages = url } = dialects;
    return [url, chat, responses, messages].map((address) => new URL(address).origin);
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}
