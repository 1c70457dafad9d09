import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { WEIGHTINGS } from "../bandit/weighting.ts";
import { ENCODER_KINDS } from "../encoder/open-encoder.ts";
import { checksum } from "../input/checksum.ts";
import { InputError } from "../input/input-error.ts";
import { readJson } from "../input/json.ts";
import { checkShape } from "../input/rows.ts";
import { readError } from "../input/text.ts";

/**
 * A calibration bundle: the folder that `joust fit` writes and the router reads.
 * `bundle.json` holds all that was found out; `encoder/`, where there is one,
 * the weights of an encoder of its own. Every file has its checksum there, and
 * so has the rest of bundle.json itself.
 */
export const BUNDLE_FILE = "bundle.json";
export const ENCODER_FOLDER = "encoder";

const SCHEMA = 1;

const SHA256 = z.string().regex(/^[0-9a-f]{64}$/, "is no SHA-256 in hexadecimal");
const NAME = z.string().min(1);
const COUNT = z.int().min(0);
const VECTOR = z.array(z.number()).transform((numbers): Float64Array => Float64Array.from(numbers));

/** Which encoder the numbers were made with. */
const ENCODER = z.object({
  kind: z.enum(ENCODER_KINDS),
  /** A name that `--encoder` knows, or that of the folder it was. */
  name: NAME,
  dimension: z.int().min(1),
  /** Of its weights; of a vector of its, where it has none. */
  identity: NAME,
  /** Whether the bundle has its weights, in `encoder/`; otherwise it is found by name. */
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

/** What was seen on the way, for the record. */
const MEASURED = z.object({
  pairs: COUNT,
  /** Mean of each epoch. */
  losses: z.array(z.number()),
  heldOut: COUNT,
  /** Share of the queries held out that are nearest to their own xi; null where there are none. */
  before: z.number().nullable(),
  after: z.number().nullable(),
});

const CONTENTS = z.object({
  schema: z.literal(SCHEMA),
  /** As in MiniLM_E4_Excel_perf_cost_exp. */
  name: NAME,
  /** Of the program that wrote it. */
  version: NAME,
  encoder: ENCODER,
  settings: SETTINGS,
  /** Names and checksums of the files it was made from. */
  sources: z.record(z.string(), z.object({ file: NAME, sha256: SHA256 })),
  categories: z.array(z.object({ name: NAME, xi: VECTOR })).min(1),
  models: z
    .array(
      z.object({
        name: NAME,
        /** a_k */
        embedding: VECTOR,
        /** One a category, as in `categories`. */
        scores: VECTOR,
        costs: VECTOR.optional(),
      }),
    )
    .min(2),
  /** The offline queries; their texts are not kept, but known again by their checksum. */
  offline: z.array(z.object({ id: z.string(), sha256: SHA256, category: COUNT })).min(1),
  measured: MEASURED,
  /** Every other file of the folder. */
  files: z.record(z.string(), SHA256),
});

export type Bundle = Readonly<z.output<typeof CONTENTS>>;
export type BundleSettings = Readonly<z.output<typeof SETTINGS>>;

/** Whether a path is that of a bundle; says nothing about what is in it. */
export function isBundle(folder: string): boolean {
  return existsSync(join(folder, BUNDLE_FILE));
}

/** The text of bundle.json, its checksum as the last field. */
export function bundleText(contents: Bundle): string {
  const plain = JSON.stringify(contents, plainVectors);
  return `${JSON.stringify({ ...JSON.parse(plain), sha256: digest(plain) }, null, 1)}\n`;
}

/** The bundle in a folder, every number and every file checked. */
export async function readBundle(folder: string): Promise<Bundle> {
  const file = join(folder, BUNDLE_FILE);
  const { sha256, ...rest } = await readJson(file, SEALED, AGAIN);
  if (rest.schema !== SCHEMA) {
    throw new InputError(
      { file, field: "schema" },
      `is ${JSON.stringify(rest.schema)}, and this version reads ${SCHEMA}`,
      "fit again, or use the version of joust that wrote it",
    );
  }
  const bundle = checkShape({ file }, rest, CONTENTS, AGAIN);
  checkSizes(file, bundle);
  if (sha256 !== digest(JSON.stringify(rest))) {
    throw new InputError({ file }, "was changed: its checksum is another", AGAIN);
  }
  await checkFiles(folder, bundle.files);
  return bundle;
}

/** A text's checksum, by which an offline query is known again. */
export function textChecksum(text: string): string {
  return digest(text);
}

const SEALED = z.looseObject({ schema: z.unknown(), sha256: SHA256 });
const AGAIN = "copy the bundle again from where it was made, or fit again";

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function plainVectors(_: string, value: unknown): unknown {
  return value instanceof Float64Array ? [...value] : value;
}

/** Lengths that must agree between the parts. */
function checkSizes(file: string, { encoder, categories, models, offline }: Bundle): void {
  const expect = (
    field: string,
    vector: Float64Array | undefined,
    length: number,
    what: string,
  ) => {
    if (vector === undefined || vector.length === length) return;
    const problem = `has ${vector.length} numbers, and ${what} ${length}`;
    throw new InputError({ file, field }, problem, AGAIN);
  };
  const M = categories.length;
  const vectors = "the encoder's vectors have";
  categories.forEach(({ xi }, m) => {
    expect(`categories[${m}].xi`, xi, encoder.dimension, vectors);
  });
  models.forEach(({ embedding, scores, costs }, k) => {
    expect(`models[${k}].embedding`, embedding, encoder.dimension, vectors);
    expect(`models[${k}].scores`, scores, M, "the categories are");
    expect(`models[${k}].costs`, costs, M, "the categories are");
  });
  const stray = offline.findIndex(({ category }) => category >= M);
  if (stray < 0) return;
  const field = `offline[${stray}].category`;
  throw new InputError({ file, field }, `is ${offline[stray]!.category} of ${M} categories`, AGAIN);
}

async function checkFiles(folder: string, files: Bundle["files"]): Promise<void> {
  for (const [name, sha256] of Object.entries(files)) {
    const file = join(folder, name);
    const found = await checksum([file]).catch((error: unknown) => {
      throw readError(file, error);
    });
    if (found === sha256) continue;
    throw new InputError({ file }, "was changed: its checksum is another", AGAIN);
  }
}
