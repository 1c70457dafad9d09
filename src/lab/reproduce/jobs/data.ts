import { sigmoid } from "../../../core/bandit/btl.ts";
import { categoryEmbeddings } from "../../../core/calibrate/models.ts";
import { dot, normalized } from "../../../core/linalg/linalg.ts";
import { Random } from "../../../core/random/random.ts";
import type { Dataset, Query, StoredVerdict } from "../../data/dataset.ts";
import { loadDataset } from "../../data/load.ts";
import { verdictScores } from "../../data/verdicts.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { dropAmbiguous } from "./ambiguity.ts";
import { datasetValue } from "./open-data.ts";
import type { DataSpec } from "./specs.ts";
import { vectorsOf } from "./vectors.ts";

/**
 * Loads the data set of a spec. The result is the content itself, so that jobs which
 * need it keep their keys when only the code of the loaders changes.
 */
export async function data(spec: DataSpec, context: Context): Promise<Result> {
  const { files, scores, exclude, categories, experts, verdicts, ambiguous } = spec;
  let dataset = await loadDataset(
    files.map((file) => context.path(file)),
    { scores: scores && context.path(scores), exclude, unscored: true },
  );
  if (categories) dataset = keepCategories(dataset, categories);
  if (experts) dataset = withExperts(dataset, await vectorsOf([experts], context));
  if (verdicts !== undefined) dataset = withVerdicts(dataset, Random.seeded(verdicts));
  if (ambiguous) dataset = { ...dataset, queries: dropAmbiguous(dataset.queries, ambiguous) };
  return { value: datasetValue(dataset) };
}

/** The categories keep the order of the data. */
function keepCategories(dataset: Dataset, names: readonly string[]): Dataset {
  const missing = names.find((name) => !dataset.categories.includes(name));
  if (missing !== undefined) {
    throw new RangeError(`no category ${missing}; there are ${dataset.categories.join(", ")}`);
  }
  const kept = [...dataset.categories.keys()].filter((m) => names.includes(dataset.categories[m]!));
  const columns = (rows: readonly Float64Array[]) =>
    rows.map((row) => Float64Array.from(kept, (m) => row[m]!));
  const { scores } = dataset;
  return {
    ...dataset,
    categories: kept.map((m) => dataset.categories[m]!),
    queries: dataset.queries
      .filter(({ category }) => kept.includes(category))
      .map((query) => ({ ...query, category: kept.indexOf(query.category) })),
    ...(scores && { scores: { perf: columns(scores.perf), cost: columns(scores.cost) } }),
  };
}

/** The paper's experts on MMLU (appendix A.1), from the means over all queries. */
function withExperts(dataset: Dataset, vector: (text: string) => Float64Array): Dataset {
  const { queries, categories } = dataset;
  const means = categoryEmbeddings(
    queries.map(({ text }) => vector(text)),
    queries.map(({ category }) => category),
  ).map(normalized);
  return {
    ...dataset,
    models: categories.map((name) => `expert in ${name.replaceAll("_", " ")}`),
    scores: {
      perf: means.map((own) => Float64Array.from(means, (other) => dot(own, other))),
      cost: means.map(() => new Float64Array(means.length)),
    },
  };
}

/**
 * Draws verdicts like those of MixInstruct: for every query, each pair of models is
 * judged in both orders by BTL with vote scale 10 on the scores of the category. The
 * utilities of the query then come from its own verdicts.
 */
function withVerdicts({ models, scores, queries }: Dataset, random: Random): Dataset {
  const { perf } = scores!;
  const K = models.length;
  const judged = queries.map((query, i): Query => {
    const own = random.split(i);
    const score = (k: number) => perf[k]![query.category]!;
    const comparisons = Array.from({ length: K * K }, (_, pair): StoredVerdict[] => {
      const [a, b] = [Math.floor(pair / K), pair % K];
      const wins = own.uniform() < sigmoid(10 * (score(a) - score(b)));
      return a === b ? [] : [{ a, b, outcome: wins ? "a" : "b" }];
    }).flat();
    return { ...query, category: -1, comparisons, scores: verdictScores(comparisons, K) };
  });
  return { models, categories: [], queries: judged };
}
