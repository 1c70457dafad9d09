import type { OfflineQueries } from "../../../core/calibrate/calibrate.ts";
import { Random } from "../../../core/random/random.ts";
import type { Calibration, Dataset } from "../../data/dataset.ts";
import { takeOffline } from "../../data/offline.ts";
import { stableJson } from "../../jobs/hash.ts";
import type { Context } from "../../jobs/job.ts";
import { SETTINGS, type Settings } from "../../simulate/settings.ts";
import { streamOf } from "../../simulate/stream.ts";
import { openData } from "./open-data.ts";
import type { DrawSpec, StreamSpec } from "./specs.ts";

/** One run's split of the data. */
export interface Draw {
  readonly offline: OfflineQueries;
  /** The data without the offline queries: those that may be streamed. */
  readonly online: Dataset;
  /** The same generator in run r of every curve: same draw, same stream, same voters. */
  readonly random: Random;
}

export function openDraw(spec: DrawSpec, context: Context): Promise<Draw> {
  const { data, offlineData = data, offline: count, change, seed, run } = spec;
  return context.memo(`draw ${stableJson(spec)}`, async () => {
    const random = Random.seeded(seed).split(run);
    const dataset = await openData(data, context);
    const { offline } = takeOffline(
      await openData(offlineData, context),
      count,
      random.split("offline"),
    );
    const taken = new Set(offline.ids);
    const online = { ...dataset, queries: dataset.queries.filter(({ id }) => !taken.has(id)) };
    return {
      offline,
      random,
      online: change ? withChange(online, random.split("change")) : online,
    };
  });
}

/** Repeats every category as "NAME later", in which each model has the scores of another model. */
function withChange(dataset: Dataset, random: Random): Dataset {
  const { categories, queries, scores } = dataset;
  const { perf, cost } = scores!;
  const from = random.derangement(perf.length);
  const twice = (rows: readonly Float64Array[], later: (k: number) => Float64Array) =>
    rows.map((row, k) => Float64Array.from([...row, ...later(k)]));
  const again = queries.map((one) => ({ ...one, category: categories.length + one.category }));
  return {
    ...dataset,
    categories: [...categories, ...categories.map(laterName)],
    queries: [...queries, ...again],
    scores: { perf: twice(perf, (k) => perf[from[k]!]!), cost: twice(cost, (k) => cost[k]!) },
  };
}

export function laterName(category: string): string {
  return `${category} later`;
}

/** The offline queries and scores of some categories only. */
export function restrict(offline: OfflineQueries, names?: readonly string[]): OfflineQueries {
  if (!names) return offline;
  const { categoryNames, categories, scores, errors, costs } = offline;
  const kept = [...categoryNames.keys()].filter((m) => names.includes(categoryNames[m]!));
  const own = [...offline.ids.keys()].filter((i) => kept.includes(categories[i]!));
  const columns = (rows: readonly Float64Array[]) =>
    rows.map((row) => Float64Array.from(kept, (m) => row[m]!));
  return {
    ...offline,
    ids: own.map((i) => offline.ids[i]!),
    texts: own.map((i) => offline.texts[i]!),
    categories: own.map((i) => kept.indexOf(categories[i]!)),
    best: own.map((i) => offline.best[i]!),
    categoryNames: kept.map((m) => categoryNames[m]!),
    scores: columns(scores),
    errors: errors && columns(errors),
    costs: costs && columns(costs),
  };
}

/** The simulator's settings of a stream; the caller adds the others. */
export function settingsOf(
  { rounds, stream }: StreamSpec,
  online: Dataset,
  seed: number,
): Settings {
  const length = rounds === "once" ? online.queries.length : rounds;
  return { ...SETTINGS, rounds: length, stream, seed, told: { kind: "bundle" } };
}

/** The texts of the queries that a run will stream, each once. */
export function streamedTexts({ online, random }: Draw, spec: StreamSpec): string[] {
  const dataset = { ...online, calibration: NOTHING_OFFLINE };
  const order = streamOf(dataset, settingsOf(spec, online, 0), random.split("environment"));
  return [...new Set(order.map((i) => online.queries[i]!.text))];
}

/** The offline queries were removed from the data before. */
const NOTHING_OFFLINE: Calibration = {
  categories: [],
  centroids: [],
  sizes: [],
  scores: [],
  embeddings: [],
  offline: [],
};
