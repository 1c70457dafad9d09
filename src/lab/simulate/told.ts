import type { Pool } from "../../core/bandit/policy.ts";
import { labelEmbeddings, perfCost, type ScoreRows } from "../../core/bandit/weighting.ts";
import { bestModels, type Labelled, weighModels } from "../../core/calibrate/models.ts";
import type { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Settings } from "./settings.ts";

/** The world that is told of: its data, its offline queries by category, and what is true of them. */
export interface Known {
  readonly dataset: Dataset;
  readonly embeddings: readonly Float64Array[];
  readonly offline: readonly (readonly number[])[];
  /** True utilities of all models on query i. */
  utilities(i: number): Float64Array;
}

/** What the router is told before the first vote. */
export function tellPool(
  known: Known,
  centroids: readonly Float64Array[],
  settings: Settings,
  random: Random,
): Pick<Pool, "told" | "costs" | "labels" | "fitted"> {
  const costs = toldCosts(known);
  const telling = tellScores(known, settings, random);
  if (!telling) return { costs };
  const { scores } = telling;
  const { calibration, models } = known.dataset;
  const weighting = calibration?.weighting;
  const standing = !weighting || weighting.weighting === "labels";
  if (calibration && standing && settings.told.kind === "bundle") {
    const { embeddings } = calibration;
    return { told: scores, costs, labels: embeddings, fitted: embeddings };
  }
  const labelled = labelledQueries(known, telling, centroids);
  return {
    told: scores,
    costs,
    labels: labelEmbeddings(models.length, labelled),
    fitted: weighting && weighModels(weighting, { scores, costs }, centroids, labelled),
  };
}

interface Telling {
  /** A row of category scores for each model. */
  readonly scores: Float64Array[];
  /** Where what is told comes from offline queries: their utilities. Absent: categories' scores are all. */
  of?(i: number, m: number): Float64Array;
}

function tellScores(known: Known, settings: Settings, random: Random): Telling | undefined {
  const { told } = settings;
  if (told.kind === "none") return undefined;
  const { scores, of } = plainScores(known, settings);
  switch (told.kind) {
    case "noisy": {
      const noise = scores.map((row) => row.map(() => told.sd * random.normal()));
      return {
        scores: scores.map((row, k) => row.map((score, m) => score + noise[k]![m]!)),
        ...(of && { of: (i, m) => of(i, m).map((utility, k) => utility + noise[k]![m]!) }),
      };
    }
    case "permuted": {
      const from = random.derangement(scores.length);
      return {
        scores: from.map((k) => scores[k]!),
        ...(of && { of: (i, m) => Float64Array.from(from, (k) => of(i, m)[k]!) }),
      };
    }
    default:
      return { scores, ...(of && { of }) };
  }
}

/** The bundle's where there is one, else the csv's, else means over the offline queries; `told` may say which. */
function plainScores(known: Known, { told, lambda }: Settings): Telling {
  const { dataset, offline, utilities } = known;
  const { calibration, scores, models } = dataset;
  if (calibration && told.kind !== "scores" && told.kind !== "offline") {
    const { scores, costs } = calibration;
    return { scores: perfCost(scores, costs, lambda) };
  }
  if (scores && told.kind !== "offline") {
    const table = perfCost(scores.perf, scores.cost, lambda);
    if (!calibration) return { scores: table };
    const columns = calibration.categories.map((name) => dataset.categories.indexOf(name));
    return { scores: table.map((row) => Float64Array.from(columns, (m) => row[m]!)) };
  }
  const mean = (members: readonly number[], k: number) =>
    members.reduce((sum, i) => sum + utilities(i)[k]!, 0) / members.length;
  return {
    scores: models.map((_, k) => Float64Array.from(offline, (members) => mean(members, k))),
    of: utilities,
  };
}

/** Labels must not say more than scores do: where only those of categories are told, all its queries share a best. */
function labelledQueries(
  { dataset: { calibration }, embeddings, offline }: Known,
  { scores, of }: Telling,
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
