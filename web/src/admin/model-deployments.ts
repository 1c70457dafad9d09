/** An endpoint or key behind a model, as the configuration has it. */
export interface Deployment {
  readonly name?: string;
  readonly provider: string;
  readonly model?: string;
  readonly key?: string;
  readonly weight?: number;
  readonly rpm?: number;
  readonly tpm?: number;
}

interface ModelEntry {
  readonly provider?: string;
  readonly model?: string;
  readonly deployments?: readonly Deployment[];
}

/** The deployments of a model; a model that names a provider has one. */
export function deploymentsOf({ provider, deployments }: ModelEntry): readonly Deployment[] {
  return deployments ?? (provider === undefined ? [] : [{ provider }]);
}

/** The entry of a model with these deployments. One without settings of its own is the provider of the model. */
export function withDeployments(
  { provider: _, deployments: __, ...rest }: ModelEntry,
  deployments: readonly Deployment[],
): Record<string, unknown> {
  const [first] = deployments;
  const isPlain = first && deployments.length === 1 && Object.keys(first).length === 1;
  return isPlain ? { ...rest, provider: first.provider } : { ...rest, deployments };
}

/** Names by which models are called at a provider. */
export function namesAt(
  provider: string,
  models: Readonly<Record<string, ModelEntry>>,
): readonly string[] {
  const names = Object.entries(models).flatMap(([name, entry]) =>
    deploymentsOf(entry)
      .filter((one) => one.provider === provider)
      .map((one) => one.model ?? entry.model ?? name),
  );
  return [...new Set(names)];
}

/** The changes that add models of a provider, under names that no other model has. */
export function addedModels(
  models: Readonly<Record<string, object>>,
  provider: string,
  added: readonly string[],
) {
  const taken = new Set(Object.keys(models));
  return added.map((model) => {
    const bare = model.replace(/[^\w.:/@-]/g, "_");
    let name = taken.has(bare) ? `${provider}/${bare}` : bare;
    for (let n = 2; taken.has(name); n++) name = `${provider}/${bare}-${n}`;
    taken.add(name);
    const value = { provider, ...(name !== model && { model }) };
    return { section: "models" as const, name, value };
  });
}
