import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { BUNDLE_FILE } from "../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { type EncodeOptions, encodeAll } from "../../core/encoder/encode-all.ts";
import { DEFAULT_ENCODER, type EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { checksum } from "../../core/input/checksum.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "../data/dataset.ts";
import { readEmbeddings } from "../data/embeddings.ts";
import { type LoadOptions, loadDataset } from "../data/load.ts";
import { mmluFiles } from "../data/mmlu.ts";
import { sha256 } from "../jobs/hash.ts";
import { calibrationOf } from "./calibration.ts";
import { pack, share } from "./matrix.ts";

/** The files and the encoder of a simulation. */
export interface SourceOptions extends EncodeOptions {
  readonly data: string;
  readonly scores?: string | undefined;
  /** A name, the folder of a model, or a bundle. */
  readonly encoder?: string | undefined;
  readonly places?: EncoderPlaces | undefined;
  readonly embeddings?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

export interface Source {
  /** The data set without its texts, which are not needed after embedding. */
  readonly dataset: Dataset;
  /** One vector per query, all of the same length, in memory that threads share. */
  readonly embeddings: readonly Float64Array[];
  /** SHA-256 of the data set and its embeddings, whatever files they came from. */
  readonly content: string;
  /** File names, checksums and counts for the record, without paths of this machine. */
  readonly record: Readonly<Record<string, unknown>>;
}

export async function openSource(options: SourceOptions): Promise<Source> {
  const { data, scores, embeddings } = options;
  if (embeddings !== undefined && options.encoder !== undefined) {
    throw new InputError({ file: "--encoder" }, "is given with --embeddings", "give one of them");
  }
  const reference = embeddings === undefined ? (options.encoder ?? DEFAULT_ENCODER) : undefined;
  const { encoder, bundle } =
    reference === undefined ? {} : await openEncoderOrBundle(reference, options.places);
  let dataset: Dataset;
  let vectors: Float64Array[];
  try {
    dataset = await loadDataset(data, options);
    // Checked before the encoding, which may take minutes.
    if (bundle) dataset = { ...dataset, calibration: calibrationOf(bundle, dataset, reference!) };
    const texts = dataset.queries.map(({ text }) => text);
    vectors = encoder
      ? await encodeAll(encoder, texts, options)
      : await embeddingsOf(embeddings!, dataset, data, options);
  } finally {
    await encoder?.close();
  }
  const bundled = bundle && join(readReference(reference!).base, BUNDLE_FILE);
  const files = { data, scores, embeddings, bundle: bundled };
  const sha256: Record<string, string> = {};
  for (const [role, path] of Object.entries(files)) {
    if (path !== undefined) sha256[role] = await checksum(await filesOf(path));
  }
  if (encoder) sha256.encoder = encoder.identity;
  const shared = share(vectors);
  const withoutTexts = dataset.queries.map((query) => ({ ...query, text: "" }));
  dataset = { ...dataset, queries: withoutTexts };
  return {
    dataset,
    embeddings: shared,
    content: contentOf(dataset, pack(shared)),
    record: {
      data: basename(data),
      ...(scores !== undefined && { scores: basename(scores) }),
      ...(embeddings !== undefined && { embeddings: basename(embeddings) }),
      encoder: encoder?.name ?? "embeddings",
      ...(bundle && { bundle: bundle.name }),
      dimension: vectors[0]!.length,
      sha256,
      queries: dataset.queries.length,
      categories: dataset.categories,
      models: dataset.models,
    },
  };
}

function contentOf(dataset: Dataset, matrix: Float64Array): string {
  const text = JSON.stringify(dataset, (_, value: unknown) =>
    value instanceof Float64Array ? [...value] : value,
  );
  return sha256(text, new Uint8Array(matrix.buffer, matrix.byteOffset, matrix.byteLength));
}

/** Reads a file with vectors for all queries, including those that were dropped with their models. */
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

/** The files of a folder of MMLU, or the file itself. */
export async function filesOf(path: string): Promise<string[]> {
  return (await stat(path)).isDirectory() ? mmluFiles(path) : [path];
}
