import type { EvaluatedQuery, Pool } from "../../core/bandit/policy.ts";
import { labelEmbeddings, perfCost, type ScoreRows } from "../../core/bandit/weighting.ts";
import { bestModels, type Labelled, weighModels } from "../../core/calibrate/models.ts";
import { scoreErrors } from "../../core/calibrate/score-errors.ts";
import type { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Settings } from "./settings.ts";

/** The data of a run, its offline queries by category, and the true utilities. */
export interface Known {
  readonly dataset: Dataset;
  readonly embeddings: readonly Float64Array[];
  readonly offline: readonly (readonly number[])[];
  /** True utilities of all models on query i. */
  utilities(i: number): Float64Array;
}

/** The scores, costs and model embeddings that the router knows before the first vote. */
export function tellPool(
  known: Known,
  centroids: readonly Float64Array[],
  settings: Settings,
  random: Random,
): Pick<Pool, "told" | "toldErrors" | "costs" | "evaluated" | "labels" | "fitted"> {
  const costs = toldCosts(known);
  const told = toldScores(known, settings, random);
  if (!told) return { costs };
  const { scores, errors } = told;
  const { calibration, models } = known.dataset;
  const weighting = calibration?.weighting;
  const hasOwnEmbeddings = !weighting || weighting.weighting === "labels";
  if (calibration && hasOwnEmbeddings && settings.told.kind === "bundle") {
    const { embeddings } = calibration;
    return { told: scores, toldErrors: errors, costs, labels: embeddings, fitted: embeddings };
  }
  const labelled = labelledQueries(known, told, centroids);
  return {
    told: scores,
    toldErrors: errors,
    costs,
    evaluated: evaluatedQueries(known, told),
    labels: labelEmbeddings(models.length, labelled),
    fitted: weighting && weighModels(weighting, { scores, costs }, centroids, labelled),
  };
}

interface ToldScores {
  /** scores[model][category] */
  readonly scores: Float64Array[];
  /** Standard errors of the scores, without the noise that `told` adds, which the router does not know. */
  readonly errors?: ScoreRows | undefined;
  /** Told utilities of offline query i of category m, if the scores come from offline queries. */
  of?(i: number, m: number): Float64Array;
}

function toldScores(known: Known, settings: Settings, random: Random): ToldScores | undefined {
  const { told } = settings;
  if (told.kind === "none") return undefined;
  const { scores, errors, of } = plainScores(known, settings);
  switch (told.kind) {
    case "noisy": {
      const noise = scores.map((row) => row.map(() => told.sd * random.normal()));
      return {
        scores: scores.map((row, k) => row.map((score, m) => score + noise[k]![m]!)),
        errors,
        ...(of && { of: (i, m) => of(i, m).map((utility, k) => utility + noise[k]![m]!) }),
      };
    }
    case "permuted": {
      const from = random.derangement(scores.length);
      return {
        scores: from.map((k) => scores[k]!),
        errors: errors && from.map((k) => errors[k]!),
        ...(of && { of: (i, m) => Float64Array.from(from, (k) => of(i, m)[k]!) }),
      };
    }
    default:
      return { scores, errors, ...(of && { of }) };
  }
}

/**
 * Scores before noise is added: those of the bundle, else of the csv, else means over the offline
 * queries. `told` may select another of the three.
 */
function plainScores(known: Known, { told, lambda }: Settings): ToldScores {
  const { dataset, offline, utilities } = known;
  const { calibration, scores, models } = dataset;
  if (calibration && told.kind !== "scores" && told.kind !== "offline") {
    const { scores, errors, costs } = calibration;
    return { scores: perfCost(scores, costs, lambda), errors };
  }
  if (scores && told.kind !== "offline") {
    const table = perfCost(scores.perf, scores.cost, lambda);
    if (!calibration) return { scores: table, errors: scores.errors };
    const columns = calibration.categories.map((name) => dataset.categories.indexOf(name));
    const chosen = (rows: ScoreRows) =>
      rows.map((row) => Float64Array.from(columns, (m) => row[m]!));
    return { scores: chosen(table), errors: scores.errors && chosen(scores.errors) };
  }
  const mean = (members: readonly number[], k: number) =>
    members.reduce((sum, i) => sum + utilities(i)[k]!, 0) / members.length;
  return {
    scores: models.map((_, k) => Float64Array.from(offline, (members) => mean(members, k))),
    errors: scoreErrors(offline.map((members) => members.map(utilities))),
    of: utilities,
  };
}

/** The offline queries with their told utilities, if the told scores come from them. */
function evaluatedQueries(
  { embeddings, offline }: Known,
  { of }: ToldScores,
): EvaluatedQuery[] | undefined {
  return (
    of &&
    offline.flatMap((members, m) => members.map((i) => ({ x: embeddings[i]!, scores: of(i, m) })))
  );
}

/** Labels must not reveal more than the scores: if only category scores are told, all queries of a category share a label. */
function labelledQueries(
  { dataset: { calibration }, embeddings, offline }: Known,
  { scores, of }: ToldScores,
  centroids: readonly Float64Array[],
): Labelled[] {
  const best = (m: number) => bestModels(Float64Array.from(scores, (row) => row[m]!));
  if (calibration && !of) {
    return centroids.map((x, m) => ({ x, best: best(m), weight: calibration.sizes[m]! }));
  }
  return offline.flatMap((members, m) =>
    members.map((i) => ({ x: embeddings[i]!, best: of ? bestModels(of(i, m)) : best(m) })),
  );
}

function toldCosts({ dataset, offline }: Known): ScoreRows | undefined {
  const { calibration, scores, queries, models } = dataset;
  if (calibration) return calibration.costs;
  if (scores) return scores.cost.map((row) => row.slice());
  if (!offline.flat().some((i) => queries[i]!.costs)) return undefined;
  const mean = (members: readonly number[], k: number) =>
    members.reduce((sum, i) => sum + (queries[i]!.costs?.[k] ?? 0), 0) / members.length;
  return models.map((_, k) => Float64Array.from(offline, (members) => mean(members, k)));
}
