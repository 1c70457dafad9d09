import type { ConfigurationChange } from "../../api/configuration.ts";
import type { ProviderTest } from "../../api/providers.ts";
import { KNOWN } from "../providers/known-providers.ts";
import { HttpError } from "../wire/http-error.ts";
import type { Document } from "./document.ts";
import { recognised } from "./trial.ts";

/** The known provider of a key: the given one, or the only one whose keys look like it. */
export function providerOfKey(key: string, given: string | undefined): string {
  const names = KNOWN.map(({ name }) => name);
  if (given !== undefined && names.includes(given)) return given;
  const [found, ...others] = recognised(key);
  if (given === undefined && found !== undefined && others.length === 0) return found;
  const message =
    given === undefined
      ? "the provider of this key cannot be recognised from its form"
      : `there is no known provider ${given}`;
  throw new HttpError(400, message, {
    hint: `name its provider: ${names.join(", ")}`,
    code: "provider_unknown",
    param: "provider",
  });
}

/** The changes that add a provider and those of its models that answered. Models that have an entry keep it. */
export function setupChanges(
  document: Document,
  provider: string,
  key: string,
  { steps }: ProviderTest,
): ConfigurationChange[] {
  const answered = steps.flatMap(({ model, ok }) => (model !== undefined && ok ? [model] : []));
  const entry = document.providers[provider] as Record<string, unknown> | undefined;
  const entries = Object.entries(document.models as Record<string, ModelEntry>);
  const isPresent = (model: string) =>
    entries.some(([name, one]) => one.provider === provider && (one.model ?? name) === model);
  const taken = new Set(entries.map(([name]) => name));
  return [
    { section: "providers", name: provider, value: { ...entry, key } },
    ...answered
      .filter((model) => !isPresent(model))
      .map((model): ConfigurationChange => {
        const bare = model.replace(/[^\w.:/@-]/g, "_");
        const name = freeName(bare, provider, taken);
        taken.add(name);
        const value = { provider, ...(name !== model && { model }) };
        return { section: "models", name, value };
      }),
  ];
}

/** The name of a model, with the provider and a number if it is taken. */
function freeName(bare: string, provider: string, taken: ReadonlySet<string>): string {
  if (!taken.has(bare)) return bare;
  const named = `${provider}/${bare}`;
  let name = named;
  for (let n = 2; taken.has(name); n++) name = `${named}-${n}`;
  return name;
}

interface ModelEntry {
  readonly provider?: string;
  readonly model?: string;
}
