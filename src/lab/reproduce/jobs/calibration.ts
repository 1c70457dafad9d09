import type { OfflineQueries } from "../../../core/calibrate/calibrate.ts";
import { categoryEmbeddings, weighModels } from "../../../core/calibrate/models.ts";
import type { Calibration } from "../../data/dataset.ts";
import { restrict } from "./draw.ts";
import { promptsOf } from "./prompts.ts";
import type { ToldSpec } from "./specs.ts";

/** Everything that a router knows before the first vote, computed from the offline queries. */
export function calibrationOf(
  all: OfflineQueries,
  { categories, models }: ToldSpec,
  vector: (text: string) => Float64Array,
): Calibration {
  const offline = restrict(all, categories);
  const x = offline.texts.map(vector);
  const xi = categoryEmbeddings(x, offline.categories);
  const common = {
    categories: offline.categoryNames,
    centroids: xi,
    sizes: xi.map((_, m) => offline.categories.filter((category) => category === m).length),
    scores: offline.scores,
    errors: offline.errors,
    costs: offline.costs,
    offline: xi.map(() => []), // the offline queries were removed from the data before
  };
  if (models === "means") return { ...common, embeddings: xi };
  if ("listing" in models) {
    return { ...common, embeddings: promptsOf(offline, models).map(vector) };
  }
  const labelled = x.map((x, i) => ({ x, best: offline.best[i]! }));
  return { ...common, weighting: models, embeddings: weighModels(models, offline, xi, labelled) };
}
