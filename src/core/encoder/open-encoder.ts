/** Opens encoders by name or by folder. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { InputError } from "../input/input-error.ts";
import { didYouMean } from "../input/nearest.ts";
import type { Encoder } from "./common/encoder.ts";
import { findModel, locateModel, type ModelPlaces } from "./common/find-model.ts";
import { KNOWN_MODELS, knownModel } from "./common/known-models.ts";
import { hashEncoder } from "./hash.ts";
import { OPENAI_TEXT, type OpenaiOptions, openaiEncoder } from "./openai/openai.ts";
import { readReference, referenceText } from "./reference.ts";
import { BUNDLED_STATIC, isStaticFolder, openStatic } from "./static/open-static.ts";

export const ENCODER_KINDS = ["hash", "static", "transformer", "openai"] as const;

export interface OpenEncoder extends Encoder {
  readonly kind: (typeof ENCODER_KINDS)[number];
  /** SHA-256 of the weights, or of one probe embedding (hash), or the name of the model (OpenAI). */
  readonly identity: string;
  /** The identity of the float32 encoder, if this is its 8-bit version. */
  readonly float32?: string;
  /** Folder of the weights, if there are any. */
  readonly path?: string;
  /** Whether the name means the same encoder on every machine. A folder given by its path does not. */
  readonly named: boolean;
  close(): Promise<void>;
}

/** Places of the encoders that are not part of the package. */
export interface EncoderPlaces {
  readonly models: ModelPlaces;
  readonly openai: Pick<OpenaiOptions, "apiKey" | "baseUrl">;
  /** Folder that caches the embeddings of slow encoders. */
  readonly embeddingCache: string;
  /** Threads of a transformer. Default: the number of cores, at most four. Other numbers may change the last bits. */
  readonly threads?: number | undefined;
}

/** Name of the encoder that comes with the package. */
const STATIC = "static";
export const DEFAULT_ENCODER = STATIC;

/** All names that `--encoder` accepts. It also accepts folders, and `:int8` after a transformer. */
const ENCODER_NAMES: readonly string[] = [
  STATIC,
  hashEncoder.name,
  ...KNOWN_MODELS.map(({ name }) => name),
  OPENAI_TEXT.name,
];

/** Opens an encoder. Without `places` it finds only the package's own encoders and folders given by path. */
export async function openEncoder(
  reference: string,
  places: EncoderPlaces = NO_PLACES,
): Promise<OpenEncoder> {
  const { base, int8 } = readReference(reference);
  const opened = await openBase(base, int8, places);
  if (!int8 || opened.kind === "transformer") return opened;
  await opened.close();
  throw new InputError(
    { file: reference },
    "has no 8-bit version, because it is not a transformer",
    `write ${base}, or use ${KNOWN_MODELS.map(({ name }) => name).join(", ")} or the folder of a transformer`,
  );
}

async function openBase(base: string, int8: boolean, places: EncoderPlaces): Promise<OpenEncoder> {
  if (base === hashEncoder.name) return openHash();
  if (base === STATIC) return openStaticEncoder(undefined);
  if (base === OPENAI_TEXT.name) return openOpenai(places);
  if (isStaticFolder(base)) return openStaticEncoder(base);
  return openTransformerEncoder(base, int8, places);
}

const NO_PLACES: EncoderPlaces = {
  models: { search: [], download: "", hubCache: "" },
  openai: { apiKey: undefined },
  embeddingCache: "",
};

async function openHash(): Promise<OpenEncoder> {
  const [probe] = await hashEncoder.encode(["Which of these 7 is it, (a) or (b)?"]);
  const identity = createHash("sha256").update(probe!).digest("hex");
  return { ...hashEncoder, kind: "hash", identity, named: true, close: async () => {} };
}

async function openStaticEncoder(folder: string | undefined): Promise<OpenEncoder> {
  const { encoder, identity } = await openStatic(folder);
  return {
    kind: "static",
    name: folder === undefined ? STATIC : basename(resolve(folder)),
    dimension: encoder.dimension,
    identity,
    path: folder ?? BUNDLED_STATIC,
    named: folder === undefined,
    encode: (texts) => encoder.encode(texts),
    encodeText: (text) => encoder.encodeText(text),
    close: async () => {},
  };
}

function openOpenai({ openai, embeddingCache }: EncoderPlaces): OpenEncoder {
  const encoder = openaiEncoder({ ...openai, cacheDir: embeddingCache });
  return { ...encoder, kind: "openai", identity: encoder.name, named: true, close: async () => {} };
}

async function openTransformerEncoder(
  reference: string,
  int8: boolean,
  { models: places, threads }: EncoderPlaces,
): Promise<OpenEncoder> {
  const named = !existsSync(reference);
  if (named && !knownModel(reference) && !(await findModel(reference, places))) {
    throw new InputError(
      { file: "--encoder" },
      `"${reference}" is not an encoder`,
      `${didYouMean(reference, ENCODER_NAMES)}use ${ENCODER_NAMES.join(", ")}, the folder of a model, or a bundle of joust fit`,
    );
  }
  const path = await locateModel(reference, places);
  // Loaded here, because most commands need no transformer.
  const { openTransformer } = await import("./transformer/inference/transformer-encoder.ts");
  const { modelIdentity } = await import("./transformer/model/model-folder.ts");
  const encoder = await openTransformer(path, { threads, int8 });
  const float32 = await modelIdentity(path);
  return {
    kind: "transformer",
    name: referenceText({ base: encoder.name, int8 }),
    dimension: encoder.dimension,
    identity: int8 ? createHash("sha256").update(`${float32} int8`).digest("hex") : float32,
    ...(int8 && { float32 }),
    path,
    named,
    encode: (texts) => encoder.encode(texts),
    close: () => encoder.close(),
  };
}
