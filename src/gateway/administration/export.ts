import { stringify } from "yaml";
import { KNOWN } from "../providers/known-providers.ts";
import type { Document } from "./document.ts";
import { type Json, type JsonObject, replacePlaceholders } from "./secrets.ts";

/** The text of a joust.yaml with the same configuration. Secrets become environment variables. */
export function yamlOf(document: Document, revision: number): string {
  const names = new Map<string, string>();
  const filled = replacePlaceholders(document as unknown as Json, (path, placeholder) => {
    const known = names.get(placeholder);
    const name = known ?? unused(variableFor(path, document), new Set(names.values()));
    names.set(placeholder, name);
    return `\${${name}}`;
  }) as JsonObject;
  const sections = Object.entries(filled).filter(
    ([, entries]) => Object.keys(entries as JsonObject).length > 0,
  );
  const variables = [...names.values()];
  return [
    `# Configuration of Joust, revision ${revision}.`,
    ...(variables.length > 0
      ? [`# Secrets are not exported. Set these environment variables: ${variables.join(", ")}`]
      : []),
    stringify(Object.fromEntries(sections)),
  ].join("\n");
}

/** Usual name of the environment variable for a secret. */
function variableFor(path: readonly string[], { providers }: Document): string {
  const [section, name = "", ...rest] = path;
  const entry = providers[name] as JsonObject | undefined;
  const base = KNOWN.find((one) => one.name === (entry?.kind ?? name));
  const isKey = section === "providers" && rest[0] === "key";
  return (isKey && base?.keyVariables[0]) || constant([name, ...rest].join("_"));
}

function constant(text: string): string {
  const name = text.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return /^\d/.test(name) ? `_${name}` : name;
}

function unused(name: string, used: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name}_${n}`;
    if (!used.has(next)) return next;
  }
}
