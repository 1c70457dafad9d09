import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Pool } from "../bandit/policy.ts";
import { WEIGHTINGS } from "../bandit/weighting.ts";
import { ENCODER_KINDS } from "../encoder/open-encoder.ts";
import { checksum } from "../input/checksum.ts";
import { InputError } from "../input/input-error.ts";
import { readJson } from "../input/json.ts";
import { checkShape } from "../input/rows.ts";
import { readError } from "../input/text.ts";

/**
 * A calibration bundle: the folder that `joust fit` writes and the router reads.
 * `bundle.json` holds the results. `encoder/` holds the weights if the bundle has
 * an encoder of its own. bundle.json contains the checksums of all other files and
 * of its own contents.
 */
export const BUNDLE_FILE = "bundle.json";
export const ENCODER_FOLDER = "encoder";

const SCHEMA = 1;

const SHA256 = z.string().regex(/^[0-9a-f]{64}$/, "is not a SHA-256 in hexadecimal");
const NAME = z.string().min(1);
const COUNT = z.int().min(0);
const VECTOR = z.array(z.number()).transform((numbers): Float64Array => Float64Array.from(numbers));

const ERRORS = z
  .array(z.number().min(0).nullable())
  .transform((numbers): Float64Array => Float64Array.from(numbers, (error) => error ?? Number.NaN));

/** The encoder that the embeddings were computed with. */
const ENCODER = z.object({
  kind: z.enum(ENCODER_KINDS),
  /** A name that `--encoder` accepts, or the name of the encoder's folder. */
  name: NAME,
  dimension: z.int().min(1),
  /** See `identity` of OpenEncoder. */
  identity: NAME,
  /** Whether the weights are in `encoder/`. Otherwise the encoder is found by name. */
  own: z.boolean(),
});

const SETTINGS = z.object({
  weighting: z.enum(WEIGHTINGS),
  tau: z.int().min(1),
  lambda: z.number().min(0),
  temperature: z.number().positive(),
  epochs: COUNT,
  batch: z.int().min(1),
  learningRate: z.number().min(0),
  seed: z.int(),
});

/** Measurements of the fit. */
const MEASURED = z.object({
  pairs: COUNT,
  /** Mean loss of each epoch. */
  losses: z.array(z.number()),
  heldOut: COUNT,
  /** Share of held-out queries that are nearest to the xi of their own category; null if there are none. */
  before: z.number().nullable(),
  after: z.number().nullable(),
});

const CONTENTS = z.object({
  schema: z.literal(SCHEMA),
  /** Name of the bundle, for example MiniLM_E4_Excel_perf_cost_exp. */
  name: NAME,
  /** Version of joust that wrote the bundle. */
  version: NAME,
  encoder: ENCODER,
  settings: SETTINGS,
  /** Names and checksums of the input files. */
  sources: z.record(z.string(), z.object({ file: NAME, sha256: SHA256 })),
  categories: z
    .array(
      z.object({
        name: NAME,
        xi: VECTOR,
        /** Probabilities of the true category of a query that is nearest to this one. */
        confusion: VECTOR.optional(),
      }),
    )
    .min(1),
  models: z
    .array(
      z.object({
        name: NAME,
        /** The model embedding a_k. */
        embedding: VECTOR,
        /** One score per category, in the order of `categories`. */
        scores: VECTOR,
        /** Standard error of each score; null for an unknown error. */
        errors: ERRORS.optional(),
        costs: VECTOR.optional(),
      }),
    )
    .min(2),
  /** The offline queries. Their texts are not stored; checksums identify them. */
  offline: z.array(z.object({ id: z.string(), sha256: SHA256, category: COUNT })).min(1),
  measured: MEASURED,
  /** SHA-256 of every other file of the folder. */
  files: z.record(z.string(), SHA256),
});

export type Bundle = Readonly<z.output<typeof CONTENTS>>;
export type BundleSettings = Readonly<z.output<typeof SETTINGS>>;

/** Whether a folder is a bundle. The contents are not checked. */
export function isBundle(folder: string): boolean {
  return existsSync(join(folder, BUNDLE_FILE));
}

/** Returns the text of bundle.json, with its checksum as the last field. */
export function bundleText(contents: Bundle): string {
  const plain = JSON.stringify(contents, plainVectors);
  return `${JSON.stringify({ ...JSON.parse(plain), sha256: digest(plain) }, null, 1)}\n`;
}

/** Reads a bundle and checks every number and every file. */
export async function readBundle(folder: string): Promise<Bundle> {
  const file = join(folder, BUNDLE_FILE);
  const { sha256, ...rest } = await readJson(file, SEALED, AGAIN);
  if (rest.schema !== SCHEMA) {
    throw new InputError(
      { file, field: "schema" },
      `is ${JSON.stringify(rest.schema)}, but this version reads ${SCHEMA}`,
      "fit again, or use the version of joust that wrote it",
    );
  }
  const bundle = checkShape({ file }, rest, CONTENTS, AGAIN);
  checkSizes(file, bundle);
  if (sha256 !== digest(JSON.stringify(rest))) {
    throw new InputError({ file }, "was changed: its checksum differs", AGAIN);
  }
  await checkFiles(folder, bundle.files);
  return bundle;
}

/** Returns the checksum that identifies the text of an offline query. */
export function textChecksum(text: string): string {
  return digest(text);
}

const SEALED = z.looseObject({ schema: z.unknown(), sha256: SHA256 });
const AGAIN = "copy the bundle again from its original, or fit again";

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function plainVectors(_: string, value: unknown): unknown {
  return value instanceof Float64Array ? [...value] : value;
}

/** Checks that the lengths of all vectors agree. */
function checkSizes(file: string, { encoder, categories, models, offline }: Bundle): void {
  const expect = (
    field: string,
    vector: Float64Array | undefined,
    length: number,
    what: string,
  ) => {
    if (vector === undefined || vector.length === length) return;
    const problem = `has ${vector.length} numbers, but ${what} ${length}`;
    throw new InputError({ file, field }, problem, AGAIN);
  };
  const M = categories.length;
  const embeddings = "embeddings of the encoder have";
  categories.forEach(({ xi, confusion }, m) => {
    expect(`categories[${m}].xi`, xi, encoder.dimension, embeddings);
    expect(`categories[${m}].confusion`, confusion, M, "the number of categories is");
  });
  models.forEach(({ embedding, scores, errors, costs }, k) => {
    expect(`models[${k}].embedding`, embedding, encoder.dimension, embeddings);
    expect(`models[${k}].scores`, scores, M, "the number of categories is");
    expect(`models[${k}].errors`, errors, M, "the number of categories is");
    expect(`models[${k}].costs`, costs, M, "the number of categories is");
  });
  const stray = offline.findIndex(({ category }) => category >= M);
  if (stray < 0) return;
  const field = `offline[${stray}].category`;
  const problem = `is ${offline[stray]!.category}, but there are ${M} categories, counted from 0`;
  throw new InputError({ file, field }, problem, AGAIN);
}

async function checkFiles(folder: string, files: Bundle["files"]): Promise<void> {
  for (const [name, sha256] of Object.entries(files)) {
    const file = join(folder, name);
    const found = await checksum([file]).catch((error: unknown) => {
      throw readError(file, error);
    });
    if (found === sha256) continue;
    throw new InputError({ file }, "was changed: its checksum differs", AGAIN);
  }
}

/** Standard errors of a model's scores; NaN for an unknown error. */
export function errorsOfModel({ scores, errors }: Bundle["models"][number]): Float64Array {
  return errors ?? new Float64Array(scores.length).fill(Number.NaN);
}

/** The models and categories of a bundle, as a policy takes them. Costs are left out unless all models have them. */
export function poolOfBundle({ models, categories }: Bundle): Pool {
  const costs = models.flatMap((model) => model.costs ?? []);
  return {
    models: models.map(({ name }) => name),
    categories: categories.map(({ name }) => name),
    centroids: categories.map(({ xi }) => xi),
    told: models.map(({ scores }) => scores),
    ...(models.some(({ errors }) => errors) && { toldErrors: models.map(errorsOfModel) }),
    fitted: models.map(({ embedding }) => embedding),
    ...(costs.length === models.length && { costs }),
  };
}
