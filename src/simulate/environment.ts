import type { Hindsight, Pool } from "../bandit/policy.ts";
import { labelEmbeddings, type ScoreRows } from "../bandit/weighting.ts";
import { mean } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import type { Dataset, Query } from "./dataset.ts";
import type { Settings } from "./settings.ts";

/**
 * One run's world: which queries are offline, what the router is told, what is
 * true, and the order in which queries come. It depends on the run's generator
 * alone, so that all policies of a run meet the same world.
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
  /** True utility of every model on this query. */
  readonly utilities: Float64Array;
  readonly costs: Float64Array | undefined;
  /** The largest utility. */
  readonly best: number;
}

export function createEnvironment(
  dataset: Dataset,
  embeddings: readonly Float64Array[],
  settings: Settings,
  random: Random,
): Environment {
  const K = dataset.models.length;
  const groups = groupQueries(dataset);
  const { offline, online } = setAside(groups, settings.offline, random.split("offline"));
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
  const order = streamOrder(online, settings, random.split("stream"));

  const centroids = offline.map((members) => mean(members.map((i) => embeddings[i]!)));
  const told = tellScores(dataset, offline, settings, arrival, random.split("told"));
  const costs = toldCosts(dataset, offline);
  const labelled = offline.flatMap((members, m) =>
    members.map((i) => ({ x: embeddings[i]!, best: told ? bestModels(told.of(i, m)) : [] })),
  );
  const pool: Pool = {
    models: dataset.models,
    categories: groups.map((group) => group.name),
    centroids,
    told: told?.scores,
    costs,
    labels: told && labelEmbeddings(K, labelled),
  };

  const totals = new Float64Array(K);
  for (const i of order) {
    const { utilities } = arrival(i);
    for (let k = 0; k < K; k++) totals[k]! += utilities[k]!;
  }
  const byVector = new Map<Float64Array, Arrival>();
  const hindsight: Hindsight = {
    utilities(x) {
      if (byVector.size === 0) for (const a of arrivals.values()) byVector.set(a.x, a);
      return byVector.get(x)!.utilities;
    },
    bestFixed: totals.indexOf(Math.max(...totals)),
  };
  return { pool, hindsight, at: (t) => arrival(order[t]!) };
}

/** What of each category is set aside where `offline` are wanted: the rest is streamed. */
export interface Split {
  readonly category: string;
  readonly queries: number;
  readonly offline: number;
}

export function splitOf(dataset: Dataset, offline: number): Split[] {
  return groupQueries(dataset).map(({ name, members }) => ({
    category: name,
    queries: members.length,
    offline: offlineCount(members, offline),
  }));
}

interface Group {
  readonly name: string;
  readonly members: number[];
}

/** Queries by category; where the data names none, by their best model (first of joint ones). */
function groupQueries(dataset: Dataset): Group[] {
  const labelled = dataset.categories.length > 0;
  const names = labelled ? dataset.categories : dataset.models;
  const groups = names.map((name) => ({ name, members: [] as number[] }));
  dataset.queries.forEach((query, i) => {
    groups[labelled ? query.category : argBest(query.scores!)]!.members.push(i);
  });
  return groups.filter((group) => group.members.length > 0);
}

function setAside(
  groups: readonly Group[],
  count: number,
  random: Random,
): { offline: number[][]; online: number[][] } {
  const shuffled = groups.map((group) => random.shuffle([...group.members]));
  return {
    // At most half of a small category goes offline, and at least one query.
    offline: shuffled.map((members) => members.slice(0, offlineCount(members, count))),
    online: shuffled.map((members) => members.slice(offlineCount(members, count))),
  };
}

function offlineCount(members: readonly number[], count: number): number {
  return Math.max(1, Math.min(count, Math.floor(members.length / 2)));
}

function streamOrder(online: readonly number[][], settings: Settings, random: Random): number[] {
  const order: number[] = [];
  if (settings.stream === "uniform") {
    const filled = online.filter((members) => members.length > 0);
    while (order.length < settings.rounds) {
      const members = filled[random.integer(filled.length)]!;
      order.push(members[random.integer(members.length)]!);
    }
    return order;
  }
  const all = online.flat();
  while (order.length < settings.rounds) {
    // The last time round only what is needed; a push of very many arguments would overflow.
    for (const i of random.shuffle([...all]).slice(0, settings.rounds - order.length)) {
      order.push(i);
    }
  }
  return order;
}

/** The true category scores: the csv's, with noise if asked. Undefined where queries have their own. */
function truthOf(dataset: Dataset, settings: Settings, random: Random): ScoreRows | undefined {
  return dataset.scores?.perf.map((row) =>
    row.map((score) => score + settings.truthSd * random.normal()),
  );
}

/** What counts for the queries of a category that have no numbers of their own. */
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
  return { query, x, utilities, costs, best: Math.max(...utilities) };
}

/** What the router is told before the first vote. */
interface Telling {
  /** A row of category scores for each model. */
  readonly scores: Float64Array[];
  /** Utilities of the models on offline query i of category m: labels must not say more than scores do. */
  of(i: number, m: number): Float64Array;
}

function tellScores(
  dataset: Dataset,
  offline: readonly number[][],
  settings: Settings,
  arrival: (i: number) => Arrival,
  random: Random,
): Telling | undefined {
  const { told, lambda } = settings;
  if (told.kind === "none") return undefined;
  const { scores } = dataset;
  const fromCsv = scores && told.kind !== "offline";
  const table = dataset.models.map((_, k) =>
    Float64Array.from(offline, (members, m) =>
      fromCsv
        ? scores.perf[k]![m]! - (lambda > 0 ? lambda * scores.cost[k]![m]! : 0)
        : members.reduce((sum, i) => sum + arrival(i).utilities[k]!, 0) / members.length,
    ),
  );
  const of: Telling["of"] = (i, m) => (fromCsv ? column(table, m) : arrival(i).utilities);
  switch (told.kind) {
    case "noisy": {
      const noise = table.map((row) => row.map(() => told.sd * random.normal()));
      return {
        scores: table.map((row, k) => row.map((score, m) => score + noise[k]![m]!)),
        of: (i, m) => of(i, m).map((utility, k) => utility + noise[k]![m]!),
      };
    }
    case "permuted": {
      const from = random.derangement(table.length);
      return {
        scores: from.map((k) => table[k]!),
        of: (i, m) => Float64Array.from(from, (k) => of(i, m)[k]!),
      };
    }
    default:
      return { scores: table, of };
  }
}

function toldCosts(dataset: Dataset, offline: readonly number[][]): Float64Array[] | undefined {
  if (dataset.scores) return dataset.scores.cost.map((row) => row.slice());
  if (!offline.flat().some((i) => dataset.queries[i]!.costs)) return undefined;
  return dataset.models.map((_, k) =>
    Float64Array.from(
      offline,
      (members) =>
        members.reduce((sum, i) => sum + (dataset.queries[i]!.costs?.[k] ?? 0), 0) / members.length,
    ),
  );
}

function bestModels(utilities: Float64Array): number[] {
  const best = Math.max(...utilities);
  return [...utilities.keys()].filter((k) => utilities[k] === best);
}

function argBest(scores: Float64Array): number {
  return scores.indexOf(Math.max(...scores));
}
