import { createHash } from "node:crypto";
import { InputError } from "../input/input-error.ts";
import { didYouMean } from "../input/nearest.ts";
import type { Encoder } from "./encoder.ts";
import type { ModelPlaces } from "./find-model.ts";
import { hashEncoder } from "./hash.ts";
import { KNOWN_MODELS } from "./known-models.ts";

export const ENCODER_KINDS = ["hash", "static", "transformer", "openai"] as const;

/** An encoder, what it is, and how to let it go. */
export interface OpenEncoder extends Encoder {
  readonly kind: (typeof ENCODER_KINDS)[number];
  /** The same for the same vectors: a checksum of its weights, or of a vector where it has none. */
  readonly identity: string;
  /** Whether any machine can find it by its name; otherwise it was a folder here. */
  readonly named: boolean;
  close(): Promise<void>;
}

export const DEFAULT_ENCODER = "hash";

/** Every name that `--encoder` knows; a folder may be given too. */
export const ENCODER_NAMES = [hashEncoder.name, ...KNOWN_MODELS.map(({ name }) => name)];

/** Where encoders are found that do not come with the program. */
export interface EncoderPlaces {
  readonly models: ModelPlaces;
  /** Keeps the vectors of slow encoders. */
  readonly vectors: string;
}

/** The encoder that a name or a path means. */
export async function openEncoder(
  reference: string,
  _places?: EncoderPlaces,
): Promise<OpenEncoder> {
  if (reference === hashEncoder.name) return openHash();
  throw new InputError(
    { file: "--encoder" },
    `"${reference}" is no encoder`,
    `${didYouMean(reference, ENCODER_NAMES)}there are ${ENCODER_NAMES.join(", ")}, folders of models, and bundles of joust fit`,
  );
}

async function openHash(): Promise<OpenEncoder> {
  const [probe] = await hashEncoder.encode(["Which of these 7 is it, (a) or (b)?"]);
  const identity = createHash("sha256").update(probe!).digest("hex");
  return { ...hashEncoder, kind: "hash", identity, named: true, close: async () => {} };
}
