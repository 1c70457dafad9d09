import type { Config } from "./config.ts";

/** Sentences that say what to do about providers for which the configuration has no model. */
export function nextSteps({ providers, models }: Pick<Config, "providers" | "models">): string[] {
  const named = Object.values(models).flatMap(({ provider, deployments = [] }) => [
    provider,
    ...deployments.map((one) => one.provider),
  ]);
  return Object.keys(providers)
    .filter((name) => !named.includes(name))
    .map((name) =>
      named.length === 0
        ? `Every model that the provider ${name} lists is served; to choose among them, add the models that you want. Its other models are then not served.`
        : `No model uses the provider ${name} yet: add one, for example ${name}-model with the value {"provider": "${name}", "model": "NAME AT THE PROVIDER"}.`,
    );
}
