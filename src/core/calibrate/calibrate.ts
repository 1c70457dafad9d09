import type { OpenEncoder } from "../encoder/open-encoder.ts";
import { InputError } from "../input/input-error.ts";
import { Random } from "../random/random.ts";
import { type BundleSettings, textChecksum } from "./bundle.ts";
import { categoryConfusion } from "./confusion.ts";
import {
  categoryEmbeddings,
  nearestCentroidAccuracy,
  type ScoreTable,
  weighModels,
} from "./models.ts";
import { type Pair, pairsOf } from "./pairs.ts";
import type { BundleContents } from "./write-bundle.ts";

/** The offline queries, and the scores of the models on them. */
export interface OfflineQueries extends ScoreTable {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  /** Category of each query, as an index into `categoryNames`. */
  readonly categories: readonly number[];
  readonly categoryNames: readonly string[];
  readonly models: readonly string[];
  /** Indices of the best models for each query. */
  readonly best: readonly (readonly number[])[];
}

/** Queries with categories that are used for measuring only, not for fitting. */
export interface HeldOut {
  readonly texts: readonly string[];
  readonly categories: readonly number[];
}

export interface CalibrateHooks {
  /** Trains the encoder on the pairs (no pairs: copies it), saves it for the bundle, and opens it. */
  fineTune(pairs: readonly Pair[]): Promise<Tuned>;
  /** Replaces the encoder's own `encode`, for example to report progress. */
  encode?(encoder: OpenEncoder, texts: readonly string[]): Promise<Float64Array[]>;
}

export interface Tuned {
  readonly encoder: OpenEncoder;
  /** Mean loss of each epoch. */
  readonly losses: readonly number[];
}

/** The contents of a bundle without its sources. */
export type Calibrated = Omit<BundleContents, "schema" | "version" | "sources">;

/**
 * Fits a bundle, once per pool of models (the paper's CCFT): offline queries ->
 * pairs -> contrastive fine-tuning -> category embeddings xi -> categorical
 * weighting -> model embeddings a_k. With `epochs` 0 the encoder is not trained,
 * which is the paper's control group.
 */
export async function calibrate(
  offline: OfflineQueries,
  heldOut: HeldOut,
  base: OpenEncoder,
  settings: BundleSettings,
  { fineTune, encode = (encoder, texts) => encoder.encode(texts) }: CalibrateHooks,
): Promise<Calibrated> {
  const { ids, texts, categories, categoryNames, best } = offline;
  const embed = async (encoder: OpenEncoder) => {
    const all = await encode(encoder, [...texts, ...heldOut.texts]);
    const [x, others] = [all.slice(0, texts.length), all.slice(texts.length)];
    const xi = categoryEmbeddings(x, categories);
    const accuracy = accuracyOf(xi, others, heldOut.categories);
    return { x, others, xi, accuracy };
  };
  const before = await embed(base);

  const random = Random.seeded(settings.seed).split("pairs");
  const pairs = settings.epochs > 0 ? pairsOf(categories, random) : [];
  const own = settings.epochs > 0 || !base.named;
  const { encoder, losses } = own ? await fineTune(pairs) : { encoder: base, losses: [] };
  const after = own ? await embed(encoder).finally(() => encoder.close()) : before;

  const { x, others, xi } = after;
  const labelled = x.map((x, i) => ({ x, best: best[i]! }));
  const a = weighModels(settings, offline, xi, labelled);
  x.forEach((vector, i) => {
    checkFinite(base.name, vector, `query "${ids[i]}"`);
  });
  a.forEach((vector, k) => {
    checkFinite(base.name, vector, `model "${offline.models[k]}"`);
  });
  const confusion = categoryConfusion(
    xi,
    { embeddings: x, categories },
    { embeddings: others, categories: heldOut.categories },
  );
  const { kind, dimension, identity } = encoder;
  return {
    name: nameOf(base.name, settings),
    encoder: { kind, name: base.name, dimension, identity, own },
    settings,
    categories: xi.map((xi, m) => {
      return { name: categoryNames[m]!, xi, confusion: confusion[m]! };
    }),
    models: a.map((embedding, k) => modelOf(offline, k, embedding)),
    offline: texts.map((text, i) => {
      return { id: ids[i]!, sha256: textChecksum(text), category: categories[i]! };
    }),
    measured: {
      pairs: pairs.length,
      losses: [...losses],
      heldOut: heldOut.texts.length,
      before: before.accuracy,
      after: after.accuracy,
    },
  };
}

/** Share of held-out queries that are nearest to their own category; null if there are none. */
function accuracyOf(
  xi: readonly Float64Array[],
  x: readonly Float64Array[],
  categories: readonly number[],
): number | null {
  return x.length === 0 ? null : nearestCentroidAccuracy(xi, x, categories);
}

function modelOf(
  { models, scores, errors, costs }: OfflineQueries,
  k: number,
  embedding: Float64Array,
) {
  return {
    name: models[k]!,
    embedding,
    scores: scores[k]!,
    ...(errors && { errors: errors[k]! }),
    ...(costs && { costs: costs[k]! }),
  };
}

function checkFinite(encoder: string, embedding: Float64Array, subject: string): void {
  const number = embedding.find((value) => !Number.isFinite(value));
  if (number === undefined) return;
  throw new InputError(
    { file: encoder },
    `returned ${number} in the embedding of ${subject}`,
    "use another encoder, or fewer epochs",
  );
}

/** Encoder, epochs, weighting, and fine-tuned (exp) or not (ctrl): MiniLM_E4_Excel_perf_cost_exp. */
function nameOf(encoder: string, { epochs, weighting }: BundleSettings): string {
  const capital = weighting[0]!.toUpperCase() + weighting.slice(1);
  return `${encoder}_E${epochs}_${capital}_${epochs > 0 ? "exp" : "ctrl"}`;
}
