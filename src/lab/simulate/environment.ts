import type { Hindsight, Pool } from "../../core/bandit/policy.ts";
import type { ScoreRows } from "../../core/bandit/weighting.ts";
import { mean } from "../../core/linalg/linalg.ts";
import type { Random } from "../../core/random/random.ts";
import type { Dataset, Query } from "../data/dataset.ts";
import { groupQueries, setAside } from "../data/groups.ts";
import type { Settings } from "./settings.ts";
import { streamOf } from "./stream.ts";
import { tellPool } from "./told.ts";

/**
 * The environment of one run: the offline queries, the scores that the router is told, the
 * true scores, and the order of the queries. It depends only on the run's generator, so that
 * all policies of a run have the same environment.
 */
export interface Environment {
  readonly pool: Pool;
  readonly hindsight: Hindsight;
  /** The query of round t. */
  at(t: number): Arrival;
}

export interface Arrival {
  readonly query: Query;
  readonly x: Float64Array;
  /** True score of every model on this query, and its utility: score - lambda * cost. */
  readonly scores: Float64Array;
  readonly utilities: Float64Array;
  readonly costs: Float64Array | undefined;
  /** The largest utility, and the largest score. */
  readonly best: number;
  readonly bestScore: number;
}

export function createEnvironment(
  dataset: Dataset,
  embeddings: readonly Float64Array[],
  settings: Settings,
  random: Random,
): Environment {
  const K = dataset.models.length;
  const groups = groupQueries(dataset);
  const { offline } = setAside(dataset, groups, settings.offline, random.split("offline"));
  const levels = levelsOf(dataset, truthOf(dataset, settings, random.split("truth")));
  const arrivals = new Map<number, Arrival>();
  const arrival = (i: number): Arrival => {
    let known = arrivals.get(i);
    if (!known) {
      known = arrive(dataset.queries[i]!, levels, settings.lambda, embeddings[i]!);
      arrivals.set(i, known);
    }
    return known;
  };
  const order = streamOf(dataset, settings, random);

  const { calibration } = dataset;
  const centroids =
    calibration?.centroids ?? offline.map((members) => mean(members.map((i) => embeddings[i]!)));
  const known = { dataset, embeddings, offline, utilities: (i: number) => arrival(i).utilities };
  const pool: Pool = {
    models: dataset.models,
    categories: calibration?.categories ?? groups.map((group) => group.name),
    centroids,
    ...tellPool(known, centroids, settings, random.split("told")),
  };

  const totals = new Float64Array(K);
  const counts = new Map<number, number>();
  for (const i of order) {
    const { utilities } = arrival(i);
    for (let k = 0; k < K; k++) totals[k]! += utilities[k]!;
    counts.set(i, (counts.get(i) ?? 0) + 1);
  }
  const byVector = new Map<Float64Array, Arrival>();
  const hindsight: Hindsight = {
    utilities(x) {
      if (byVector.size === 0) for (const a of arrivals.values()) byVector.set(a.x, a);
      return byVector.get(x)!.utilities;
    },
    bestFixed: totals.indexOf(Math.max(...totals)),
    stream: Array.from(counts, ([i, count]) => {
      const { x, utilities } = arrival(i);
      return { x, utilities, count };
    }),
  };
  return { pool, hindsight, at: (t) => arrival(order[t]!) };
}

/** The true category scores: those of the csv plus noise. Undefined if queries have their own scores. */
function truthOf(dataset: Dataset, settings: Settings, random: Random): ScoreRows | undefined {
  return dataset.scores?.perf.map((row) =>
    row.map((score) => score + settings.truthSd * random.normal()),
  );
}

/** Scores and costs of the queries of a category that have none of their own. */
interface Level {
  readonly scores: Float64Array;
  readonly costs: Float64Array;
}

function levelsOf(dataset: Dataset, truth: ScoreRows | undefined): Level[] {
  return dataset.categories.flatMap((_, m) =>
    dataset.scores && truth
      ? [{ scores: column(truth, m), costs: column(dataset.scores.cost, m) }]
      : [],
  );
}

function column(table: ScoreRows, m: number): Float64Array {
  return Float64Array.from(table, (row) => row[m]!);
}

function arrive(query: Query, levels: readonly Level[], lambda: number, x: Float64Array): Arrival {
  const level = levels[query.category];
  const scores = query.scores ?? level!.scores;
  const costs = query.costs ?? level?.costs;
  const utilities =
    lambda > 0 && costs ? scores.map((score, k) => score - lambda * costs[k]!) : scores;
  const [best, bestScore] = [Math.max(...utilities), Math.max(...scores)];
  return { query, x, scores, utilities, costs, best, bestScore };
}
