/** The registry: what a name or a path means, opened. */
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

/** An encoder, what it is, and how to let it go. */
export interface OpenEncoder extends Encoder {
  readonly kind: (typeof ENCODER_KINDS)[number];
  /** The same for the same vectors: a checksum of its weights, or of a vector where it has none. */
  readonly identity: string;
  /** In 8 bits: the identity of the float32 encoder that it stands for. */
  readonly float32?: string;
  /** Where its weights are, if it has any. */
  readonly path?: string;
  /** Whether any machine can find it by its name; otherwise it was a folder here. */
  readonly named: boolean;
  close(): Promise<void>;
}

/** Where encoders are found that do not come with the program. */
export interface EncoderPlaces {
  readonly models: ModelPlaces;
  readonly openai: Pick<OpenaiOptions, "apiKey" | "baseUrl">;
  /** Keeps the vectors of slow encoders. */
  readonly vectors: string;
  /** Of a transformer: the cores, up to four, if not given. Another number may give other last bits. */
  readonly threads?: number | undefined;
}

/** The one that comes with the program. */
const STATIC = "static";
export const DEFAULT_ENCODER = STATIC;

/** Every name that `--encoder` knows; a folder may be given too, and `:int8` behind a transformer. */
export const ENCODER_NAMES: readonly string[] = [
  STATIC,
  hashEncoder.name,
  ...KNOWN_MODELS.map(({ name }) => name),
  OPENAI_TEXT.name,
];

/** Without `places` only what comes with the program, and folders by their path. */
export async function openEncoder(
  reference: string,
  places: EncoderPlaces = NOWHERE,
): Promise<OpenEncoder> {
  const { base, int8 } = readReference(reference);
  const opened = await openNamed(base, int8, places);
  if (!int8 || opened.kind === "transformer") return opened;
  await opened.close();
  throw new InputError(
    { file: reference },
    "asks for 8 bits of an encoder that is no transformer",
    `write ${base}, or take ${KNOWN_MODELS.map(({ name }) => name).join(", ")} or the folder of a transformer`,
  );
}

async function openNamed(base: string, int8: boolean, places: EncoderPlaces): Promise<OpenEncoder> {
  if (base === hashEncoder.name) return openHash();
  if (base === STATIC) return openStaticOf(undefined);
  if (base === OPENAI_TEXT.name) return openOpenai(places);
  if (isStaticFolder(base)) return openStaticOf(base);
  return openTransformerOf(base, int8, places);
}

const NOWHERE: EncoderPlaces = {
  models: { search: [], download: "", hubCache: "" },
  openai: { apiKey: undefined },
  vectors: "",
};

async function openHash(): Promise<OpenEncoder> {
  const [probe] = await hashEncoder.encode(["Which of these 7 is it, (a) or (b)?"]);
  const identity = createHash("sha256").update(probe!).digest("hex");
  return { ...hashEncoder, kind: "hash", identity, named: true, close: async () => {} };
}

async function openStaticOf(folder: string | undefined): Promise<OpenEncoder> {
  const { encoder, identity } = await openStatic(folder);
  return {
    kind: "static",
    name: folder === undefined ? STATIC : basename(resolve(folder)),
    dimension: encoder.dimension,
    identity,
    path: folder ?? BUNDLED_STATIC,
    named: folder === undefined,
    encode: (texts) => encoder.encode(texts),
    close: async () => {},
  };
}

function openOpenai({ openai, vectors }: EncoderPlaces): OpenEncoder {
  const encoder = openaiEncoder({ ...openai, cacheDir: vectors });
  return { ...encoder, kind: "openai", identity: encoder.name, named: true, close: async () => {} };
}

async function openTransformerOf(
  reference: string,
  int8: boolean,
  { models: places, threads }: EncoderPlaces,
): Promise<OpenEncoder> {
  const named = !existsSync(reference);
  if (named && !knownModel(reference) && !(await findModel(reference, places))) {
    throw new InputError(
      { file: "--encoder" },
      `"${reference}" is no encoder`,
      `${didYouMean(reference, ENCODER_NAMES)}there are ${ENCODER_NAMES.join(", ")}, folders of models, and bundles of joust fit`,
    );
  }
  const path = await locateModel(reference, places);
  // onnxruntime is loaded only where it is needed.
  const { openTransformer } = await import("./transformer/inference/transformer-encoder.ts");
  const { modelIdentity } = await import("./transformer/model/identity.ts");
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
