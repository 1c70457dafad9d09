import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { invalidValue } from "../src/core/errors/joust-error.ts";
import { SETTINGS, type Settings, type Told } from "../src/lab/simulate/settings.ts";
import { openSource, type Source, type SourceOptions } from "../src/lab/simulate/source.ts";

/** A real data set and how the cells of a table are simulated with it. */
export interface BenchDataset {
  readonly name: "routerbench" | "llmrouter";
  readonly title: string;
  readonly source: Source;
  /** Settings of all cells. */
  readonly base: Partial<Settings>;
  /** Settings for exact, noisy and permuted told scores. */
  readonly told: Readonly<Record<ToldKind, Partial<Settings>>>;
}

export const TOLD_KINDS = ["exact", "noisy", "permuted"] as const;
type ToldKind = (typeof TOLD_KINDS)[number];

/** One cell of a table: a vote scale and the kind of told scores. */
export interface Cell {
  readonly voteScale: number;
  readonly told: ToldKind;
}

/** RouterBench with its eleventh model, gpt-4, which can join later. */
export async function openFullRouterBench(): Promise<BenchDataset> {
  const [routerBench] = await openDatasets();
  return {
    ...routerBench!,
    source: await openSource({ ...routerbench(), exclude: [] }),
  };
}

export async function openDatasets(): Promise<BenchDataset[]> {
  const offline: Told = { kind: "offline" };
  return [
    {
      name: "routerbench",
      title: "RouterBench: quality from the paper's Perf table, categories drawn uniformly",
      source: await openSource(routerbench()),
      base: { stream: "uniform", told: { kind: "scores" } },
      told: { exact: {}, noisy: { truthSd: 0.1 }, permuted: { told: { kind: "permuted" } } },
    },
    {
      name: "llmrouter",
      title:
        "llmrouter-9models: quality from the outcomes of each query, told scores from 5 offline queries per task",
      source: await openSource({
        data: dataFile("llmrouter-9models/llmrouter_9models.jsonl.gz"),
        embeddings: dataFile("minilm-embeddings/llmrouter-9models.npy"),
      }),
      base: { stream: "shuffled", told: offline },
      told: {
        exact: {},
        noisy: { told: { kind: "noisy", sd: 0.1 } },
        permuted: { told: { kind: "permuted" } },
      },
    },
  ];
}

export function settingsOf(dataset: BenchDataset, cell: Cell, rest: Partial<Settings>): Settings {
  return {
    ...SETTINGS,
    ...dataset.base,
    ...dataset.told[cell.told],
    voteScale: cell.voteScale,
    ...rest,
  };
}

function routerbench(): SourceOptions {
  return {
    data: dataFile("routerbench-queries/queries.jsonl.gz"),
    scores: resolve(import.meta.dirname, "../data/scores/routerbench.csv"),
    exclude: ["gpt-4"],
    embeddings: dataFile("minilm-embeddings/routerbench-queries.npy"),
  };
}

/** A file or folder of the data sets: in JOUST_DATA, or in shared/data beside the checkout. */
export function dataFile(path: string): string {
  const folder = process.env.JOUST_DATA ?? resolve(SHARED, "data");
  return existing(resolve(folder, path), "set JOUST_DATA to the folder of the data sets");
}

/** A file or folder in shared, beside the checkout. */
export function sharedFile(path: string): string {
  return existing(resolve(SHARED, path), "this benchmark needs the folder shared");
}

const SHARED = resolve(import.meta.dirname, "../../shared");

function existing(path: string, hint: string): string {
  if (existsSync(path)) return path;
  throw invalidValue(`${path} does not exist`, hint);
}
