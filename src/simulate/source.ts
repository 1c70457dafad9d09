import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { hashEncoder } from "../encoder/hash.ts";
import { checksum } from "../input/checksum.ts";
import { InputError } from "../input/input-error.ts";
import { didYouMean } from "../input/nearest.ts";
import type { Dataset } from "./dataset.ts";
import { readEmbeddings } from "./load/embeddings.ts";
import { type LoadOptions, loadDataset } from "./load/load.ts";
import { mmluFiles } from "./load/mmlu.ts";
import { share } from "./matrix.ts";

/** Where a simulation's data comes from. */
export interface SourceOptions {
  readonly data: string;
  readonly scores?: string | undefined;
  readonly encoder?: string | undefined;
  readonly embeddings?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

export interface Source {
  /** Without texts: nothing needs them once they are embedded. */
  readonly dataset: Dataset;
  /** One a query, all of one length, in memory that threads share. */
  readonly embeddings: readonly Float64Array[];
  /** What the data is, without the machine's paths: file names, checksums, counts. */
  readonly record: Readonly<Record<string, unknown>>;
}

const ENCODERS = [hashEncoder];

export async function openSource(options: SourceOptions): Promise<Source> {
  const { data, scores, embeddings } = options;
  const encoder = encoderOf(options);
  const dataset = await loadDataset(data, options);
  const vectors = encoder
    ? await encoder.encode(dataset.queries.map(({ text }) => text))
    : await embeddingsOf(embeddings!, dataset, data, options);
  const files = { data, scores, embeddings };
  const sha256: Record<string, string> = {};
  for (const [role, path] of Object.entries(files)) {
    if (path !== undefined) sha256[role] = await checksum(await filesOf(path));
  }
  return {
    dataset: { ...dataset, queries: dataset.queries.map((query) => ({ ...query, text: "" })) },
    embeddings: share(vectors),
    record: {
      data: basename(data),
      ...(scores !== undefined && { scores: basename(scores) }),
      ...(embeddings !== undefined && { embeddings: basename(embeddings) }),
      encoder: encoder?.name ?? "embeddings",
      dimension: vectors[0]!.length,
      sha256,
      queries: dataset.queries.length,
      categories: dataset.categories,
      models: dataset.models,
    },
  };
}

/** Undefined where vectors are read from a file. */
function encoderOf({ encoder, embeddings }: SourceOptions) {
  if (embeddings !== undefined) {
    if (encoder === undefined) return undefined;
    throw new InputError({ file: "--encoder" }, "is given with --embeddings", "give one of them");
  }
  const name = encoder ?? hashEncoder.name;
  const known = ENCODERS.map((e) => e.name);
  const found = ENCODERS.find((e) => e.name === name);
  if (found) return found;
  throw new InputError(
    { file: "--encoder" },
    `"${name}" is no encoder`,
    `${didYouMean(name, known)}there is ${known.join(", ")}; --embeddings FILE takes vectors made elsewhere`,
  );
}

/** A query never compared among the models kept is left out, but the file has its vector all the same. */
async function embeddingsOf(
  file: string,
  dataset: Dataset,
  data: string,
  { models, exclude, ...options }: LoadOptions,
): Promise<Float64Array[]> {
  const partial = (models || exclude) && dataset.queries[0]!.comparisons;
  if (!partial) return readEmbeddings(file, dataset);
  const whole = await loadDataset(data, options);
  const vectors = await readEmbeddings(file, whole);
  const byId = new Map(whole.queries.map(({ id }, i) => [id, vectors[i]!]));
  return dataset.queries.map(({ id }) => byId.get(id)!);
}

async function filesOf(path: string): Promise<string[]> {
  return (await stat(path)).isDirectory() ? mmluFiles(path) : [path];
}
