import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { invalidValue } from "../src/core/errors/joust-error.ts";
import { SETTINGS, type Settings, type Told } from "../src/lab/simulate/settings.ts";
import { openSource, type Source, type SourceOptions } from "../src/lab/simulate/source.ts";

/** The two real data sets, each also with what its rows of a table are. */
export interface World {
  readonly name: "routerbench" | "llmrouter";
  readonly title: string;
  readonly source: Source;
  /** Settings that all cells share. */
  readonly base: Partial<Settings>;
  /** What "exact", "noisy" and "permuted" told scores mean here. */
  readonly told: Readonly<Record<ToldKind, Partial<Settings>>>;
}

export const TOLD_KINDS = ["exact", "noisy", "permuted"] as const;
type ToldKind = (typeof TOLD_KINDS)[number];

/** One row of a table: a vote scale and what is told. */
export interface Cell {
  readonly voteScale: number;
  readonly told: ToldKind;
}

/** RouterBench with its eleventh model, which can join later. */
export async function openFullRouterbench(): Promise<World> {
  const [world] = await openWorlds();
  return { ...world!, source: await openSource({ ...routerbench(dataFolder()), exclude: [] }) };
}

export async function openWorlds(): Promise<World[]> {
  const data = dataFolder();
  const offline: Told = { kind: "offline" };
  return [
    {
      name: "routerbench",
      title: "RouterBench queries, utility = the paper's Perf table, category drawn uniformly",
      source: await openSource(routerbench(data)),
      base: { stream: "uniform", told: { kind: "scores" } },
      told: { exact: {}, noisy: { truthSd: 0.1 }, permuted: { told: { kind: "permuted" } } },
    },
    {
      name: "llmrouter",
      title:
        "llmrouter-9models, utility = the query's own outcomes, told = means of 5 offline queries a task",
      source: await openSource({
        data: resolve(data, "llmrouter-9models/llmrouter_9models.jsonl.gz"),
        embeddings: resolve(data, "minilm-embeddings/llmrouter-9models.npy"),
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

export function settingsOf(world: World, cell: Cell, rest: Partial<Settings>): Settings {
  return {
    ...SETTINGS,
    ...world.base,
    ...world.told[cell.told],
    voteScale: cell.voteScale,
    ...rest,
  };
}

function routerbench(data: string): SourceOptions {
  return {
    data: resolve(data, "routerbench-queries/queries.jsonl.gz"),
    scores: resolve(import.meta.dirname, "../data/scores/routerbench.csv"),
    exclude: ["gpt-4"],
    embeddings: resolve(data, "minilm-embeddings/routerbench-queries.npy"),
  };
}

/** Real data is given by JOUST_DATA, or lies beside the checkout. */
function dataFolder(): string {
  const folder = process.env.JOUST_DATA ?? resolve(import.meta.dirname, "../../shared/data");
  if (existsSync(folder)) return folder;
  throw invalidValue(`no data at ${folder}`, "set JOUST_DATA to the folder of the data sets");
}
