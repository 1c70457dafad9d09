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

/** The change that adds a model of a provider, under a name that no other model has. */
export function addedModel(
  models: Readonly<Record<string, object>>,
  provider: string,
  model: string,
) {
  const bare = model.replace(/[^\w.:/@-]/g, "_");
  const name = models[bare] ? `${provider}/${bare}` : bare;
  return {
    section: "models" as const,
    name,
    value: { provider, ...(name !== model && { model }) },
  };
}
