/** The models that are served, and the place that each of them comes from. */
import type { Configuration, ConfigurationChange } from "../../api/configuration.ts";
import type { Config } from "../config/config.ts";
import type { Placement } from "../providers/model-specs.ts";
import type { Document } from "./document.ts";

export interface ServedModels {
  /** Source of the models: entries of the configuration, lists of providers, or the sandbox. */
  readonly from: () => Placement["from"];
  /** The models that are served, as entries of the configuration. */
  readonly ownModels: () => Record<string, { provider: string; model: string }>;
}

/**
 * Source of the models: the place that manages the configuration if it names one of the models or their providers,
 * otherwise the environment or the sandbox.
 */
export function sourceOf(
  served: ServedModels,
  { providers }: Config,
  managedBy: Configuration["managed_by"],
): Configuration["from"] {
  const from = served.from();
  if (from === "file") return managedBy;
  const models = Object.values(served.ownModels());
  const isConfigured = models.some(({ provider }) => providers[provider] !== undefined);
  return from === "environment" && isConfigured ? managedBy : from;
}

/**
 * The models of a document before some changes. If the changes add its first model, the models that are served without
 * an entry become entries, because they would vanish otherwise. Models of a provider in the document do not become
 * entries if the changes add models of that provider or remove the provider: the operator chooses among its models.
 */
export function modelsBefore(
  served: ServedModels,
  { models, providers }: Document,
  changes: readonly ConfigurationChange[],
): Document["models"] {
  const added = changes.flatMap(({ section, value }) =>
    section === "models" && value !== null ? [value as ModelEntry] : [],
  );
  if (Object.keys(models).length > 0 || added.length === 0) return models;
  if (served.from() !== "environment") return models;
  const removed = changes.filter(({ section, value }) => section === "providers" && value === null);
  const chosen = new Set([...added.flatMap(providersOf), ...removed.map(({ name }) => name)]);
  const kept = Object.entries(served.ownModels()).filter(
    ([, { provider }]) => providers[provider] === undefined || !chosen.has(provider),
  );
  return Object.fromEntries(kept);
}

/** An entry of a model that the schema has not checked yet. */
interface ModelEntry {
  readonly provider?: unknown;
  readonly deployments?: unknown;
}

function providersOf({ provider, deployments }: ModelEntry): unknown[] {
  const all = Array.isArray(deployments) ? (deployments as (ModelEntry | null)[]) : [];
  return [provider, ...all.map((one) => one?.provider)];
}
