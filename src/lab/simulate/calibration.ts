import { type Bundle, errorsOfModel, textChecksum } from "../../core/calibrate/bundle.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Calibration, Dataset } from "../data/dataset.ts";

/** The content of a bundle for this data: the models in the data's order, and the offline queries that the data has. */
export function calibrationOf(bundle: Bundle, dataset: Dataset, folder: string): Calibration {
  const { categories, settings } = bundle;
  const models = dataset.models.map((name) => {
    const found = bundle.models.find((model) => model.name === name);
    if (found) return found;
    throw new InputError(
      { file: folder },
      `has no model "${name}", which the data has`,
      `leave it out with --exclude ${name}, or fit again with it; the bundle has ${bundle.models.map((model) => model.name).join(", ")}`,
    );
  });
  const { weighting, tau, lambda, temperature } = settings;
  return {
    categories: categories.map(({ name }) => name),
    centroids: categories.map(({ xi }) => xi),
    sizes: categories.map((_, m) => bundle.offline.filter(({ category }) => category === m).length),
    scores: models.map(({ scores }) => scores),
    errors: models.some(({ errors }) => errors) ? models.map(errorsOfModel) : undefined,
    costs: models.every(({ costs }) => costs) ? models.map(({ costs }) => costs!) : undefined,
    embeddings: models.map(({ embedding }) => embedding),
    weighting: { weighting, tau, lambda, temperature },
    offline: offlineIn(bundle, dataset),
  };
}

/** Offline queries are found by their text: ids may differ between files, and a text may occur twice. */
function offlineIn({ categories, offline }: Bundle, { queries }: Dataset): number[][] {
  const categoryOf = new Map(offline.map(({ sha256, category }) => [sha256, category]));
  const found = categories.map((): number[] => []);
  queries.forEach(({ text }, i) => {
    const category = categoryOf.get(textChecksum(text));
    if (category !== undefined) found[category]!.push(i);
  });
  return found;
}
