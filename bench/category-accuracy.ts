/** Measures nearest-centroid accuracy, with the same draws of offline queries for every encoder. */
import { categoryEmbeddings, nearestCentroidAccuracy } from "../src/core/calibrate/models.ts";
import { Random } from "../src/core/random/random.ts";
import { loadDataset } from "../src/lab/data/load.ts";
import { takeOffline } from "../src/lab/data/offline.ts";
import { dataFile, sharedFile } from "./datasets.ts";

export const OFFLINE = 5;
export const DRAWS = 10;
/** Held-out queries per draw. More would take hours with a transformer. */
export const HELD_OUT = 2000;

/** Queries whose category is known. */
interface Labelled {
  readonly texts: readonly string[];
  readonly categories: readonly number[];
}

export interface Draw {
  readonly offline: Labelled;
  readonly heldOut: Labelled;
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  readonly draws: readonly Draw[];
  /** The distinct texts of all draws. */
  readonly texts: readonly string[];
}

export const MINILM = sharedFile("models/all-MiniLM-L6-v2");

const SETS = [
  {
    name: "routerbench",
    title: "RouterBench, 7 benchmarks",
    path: "routerbench-queries/queries.jsonl.gz",
  },
  {
    name: "llmrouter",
    title: "llmrouter-9models, 14 tasks",
    path: "llmrouter-9models/llmrouter_9models.jsonl.gz",
  },
  { name: "mmlu", title: "MMLU, the paper's 5 topics", path: "mmlu/five_topics_classic_csv" },
];

export async function openBenchmarks(): Promise<Benchmark[]> {
  return Promise.all(
    SETS.map(async ({ name, title, path }) => {
      const dataset = await loadDataset(dataFile(path), { unscored: true });
      const draws = Array.from({ length: DRAWS }, (_, n): Draw => {
        const random = Random.seeded(1).split(n);
        const { offline, heldOut } = takeOffline(dataset, OFFLINE, random);
        return { offline, heldOut: sample(heldOut, HELD_OUT, random) };
      });
      const texts = draws.flatMap(({ offline, heldOut }) => [...offline.texts, ...heldOut.texts]);
      return { name, title, draws, texts: [...new Set(texts)] };
    }),
  );
}

export type Embed = (texts: readonly string[]) => Promise<readonly Float64Array[]>;

/** Returns the share of held-out queries that are nearest to the mean of their own category. */
export async function accuracy({ offline, heldOut }: Draw, embed: Embed): Promise<number> {
  const xi = categoryEmbeddings(await embed(offline.texts), offline.categories);
  return nearestCentroidAccuracy(xi, await embed(heldOut.texts), heldOut.categories);
}

/** Returns the accuracy of each draw. Each text is encoded once. */
export async function accuracies({ draws, texts }: Benchmark, embed: Embed): Promise<number[]> {
  const vectors = await embed(texts);
  const vectorOf = new Map(texts.map((text, i) => [text, vectors[i]!]));
  const known: Embed = async (some) => some.map((text) => vectorOf.get(text)!);
  return Promise.all(draws.map((draw) => accuracy(draw, known)));
}

function sample({ texts, categories }: Labelled, most: number, random: Random): Labelled {
  const chosen = random.shuffle([...texts.keys()]).slice(0, most);
  return { texts: chosen.map((i) => texts[i]!), categories: chosen.map((i) => categories[i]!) };
}
