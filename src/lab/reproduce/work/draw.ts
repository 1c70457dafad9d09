import type { OfflineQueries } from "../../../core/calibrate/calibrate.ts";
import { Random } from "../../../core/random/random.ts";
import type { Calibration, Dataset } from "../../data/dataset.ts";
import { takeOffline } from "../../data/offline.ts";
import { stableJson } from "../../jobs/hash.ts";
import type { Context } from "../../jobs/job.ts";
import { streamOf } from "../../simulate/environment.ts";
import { SETTINGS, type Settings } from "../../simulate/settings.ts";
import { openData } from "./data.ts";
import type { DrawSpec, StreamSpec } from "./specs.ts";

/** One run's split of the data. */
export interface Draw {
  readonly offline: OfflineQueries;
  /** The data without the offline queries: what may be streamed. */
  readonly online: Dataset;
  /** Run r of every curve has the same one: same draw, same stream, same voters. */
  readonly random: Random;
}

export async function openDraw(spec: DrawSpec, context: Context): Promise<Draw> {
  const { data, offline: count, offlineAmbiguous, change, seed, run } = spec;
  return context.memo(`draw ${stableJson(spec)}`, async () => {
    const random = Random.seeded(seed).split(run);
    const dataset = await openData(data, context);
    const from =
      offlineAmbiguous === undefined
        ? dataset
        : await openData({ ...data, ambiguous: offlineAmbiguous }, context);
    const { offline } = takeOffline(from, count, random.split("offline"));
    const taken = new Set(offline.ids);
    const online = { ...dataset, queries: dataset.queries.filter(({ id }) => !taken.has(id)) };
    return {
      offline,
      random,
      online: change ? withChange(online, random.split("change")) : online,
    };
  });
}

/** Every category twice: as it is, and "later", where each model has another one's scores. */
function withChange(dataset: Dataset, random: Random): Dataset {
  const { categories, queries, scores } = dataset;
  const M = categories.length;
  const { perf, cost } = scores!;
  const from = random.derangement(perf.length);
  const twice = (rows: readonly Float64Array[], later: (k: number) => Float64Array) =>
    rows.map((row, k) => Float64Array.from([...row, ...later(k)]));
  return {
    ...dataset,
    categories: [...categories, ...categories.map(laterName)],
    queries: [...queries, ...queries.map((query) => ({ ...query, category: M + query.category }))],
    scores: { perf: twice(perf, (k) => perf[from[k]!]!), cost: twice(cost, (k) => cost[k]!) },
  };
}

export function laterName(category: string): string {
  return `${category} later`;
}

/** What is known offline of some categories alone. */
export function restrict(offline: OfflineQueries, names?: readonly string[]): OfflineQueries {
  if (!names) return offline;
  const kept = [...offline.categoryNames.keys()].filter((m) =>
    names.includes(offline.categoryNames[m]!),
  );
  const own = [...offline.ids.keys()].filter((i) => kept.includes(offline.categories[i]!));
  const columns = (rows: readonly Float64Array[]) =>
    rows.map((row) => Float64Array.from(kept, (m) => row[m]!));
  return {
    ...offline,
    ids: own.map((i) => offline.ids[i]!),
    texts: own.map((i) => offline.texts[i]!),
    categories: own.map((i) => kept.indexOf(offline.categories[i]!)),
    best: own.map((i) => offline.best[i]!),
    categoryNames: kept.map((m) => offline.categoryNames[m]!),
    scores: columns(offline.scores),
    costs: offline.costs && columns(offline.costs),
  };
}

/** The simulator's settings of a stream; what else they say is for the caller to add. */
export function settingsOf(
  { rounds, stream }: StreamSpec,
  online: Dataset,
  seed: number,
): Settings {
  return {
    ...SETTINGS,
    rounds: rounds === "once" ? online.queries.length : rounds,
    stream,
    seed,
    told: { kind: "bundle" },
  };
}

/** The queries that will come, each once. */
export function streamedTexts({ online, random }: Draw, spec: StreamSpec): string[] {
  const dataset = { ...online, calibration: NOTHING_OFFLINE };
  const order = streamOf(dataset, settingsOf(spec, online, 0), random.split("environment"));
  return [...new Set(order.map((i) => online.queries[i]!.text))];
}

/** The offline queries have left the data already. */
const NOTHING_OFFLINE: Calibration = {
  categories: [],
  centroids: [],
  sizes: [],
  scores: [],
  embeddings: [],
  offline: [],
};
