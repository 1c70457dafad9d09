import { AddProvider } from "./add-provider.tsx";
import { useManaged } from "./managed.ts";
import { deploymentsOf } from "./model-deployments.ts";
import { ProviderPanel } from "./provider-panel.tsx";

/** Providers of models with their keys. */
export function ProvidersPage() {
  const { configuration, isEditable } = useManaged();
  const { providers, models } = configuration.effective;
  const providersOf = (entry: object) => deploymentsOf(entry).map(({ provider }) => provider);
  const usedBy = (name: string) =>
    Object.keys(models).filter((model) => providersOf(models[model]!).includes(name));
  const named = new Set([
    ...Object.keys(providers),
    ...Object.values(models).flatMap((entry) => providersOf(entry)),
  ]);
  return (
    <>
      {named.size === 0 && configuration.from !== "sandbox" && (
        <p class="text-sm text-muted">
          The models come from keys in the environment. Models of providers that you add here are
          served in addition.
        </p>
      )}
      {[...named].map((name) => (
        <ProviderPanel key={name} name={name} models={usedBy(name)} />
      ))}
      {isEditable && configuration.from !== "sandbox" && <AddProvider />}
      {isEditable && configuration.from === "sandbox" && (
        <details>
          <summary class="mb-4 w-fit py-2 text-sm text-muted hover:text-ink">
            Another host, or models of your choice
          </summary>
          <AddProvider />
        </details>
      )}
    </>
  );
}
