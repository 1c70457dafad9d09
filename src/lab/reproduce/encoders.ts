import { trainingDefaults } from "../../core/calibrate/fine-tune.ts";
import { findModel } from "../../core/encoder/common/find-model.ts";
import { knownModel } from "../../core/encoder/common/known-models.ts";
import {
  type EncoderPlaces,
  type OpenEncoder,
  openEncoder,
} from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { EncoderRef } from "./jobs/specs.ts";

/** An encoder that is available on this machine. */
export interface FoundEncoder {
  readonly name: string;
  readonly ref: EncoderRef;
  readonly kind: OpenEncoder["kind"];
  readonly dimension: number;
  /** The numbers of epochs for which it is fine-tuned; empty if it cannot be. */
  readonly epochs: readonly number[];
}

export interface FoundEncoders {
  readonly here: readonly FoundEncoder[];
  readonly absent: readonly { readonly name: string; readonly reason: string }[];
}

/** The paper's four encoders, by size. */
export const PAPER_ENCODERS: readonly string[] = ["MiniLM", "mpnet", "e5b", "OpenAItext"];
/** The encoder that comes with the program. */
const OWN_ENCODER = "static";

/** Reason for an encoder that the user did not name. */
export const NOT_WANTED = "not requested";

/** Opens each encoder once to learn the identity of its weights. Encoders named by the user must exist. */
export async function findEncoders(
  wanted: readonly string[] | undefined,
  places: EncoderPlaces,
): Promise<FoundEncoders> {
  const here: FoundEncoder[] = [];
  const absent: FoundEncoders["absent"][number][] = [];
  for (const name of wanted ?? [...PAPER_ENCODERS, OWN_ENCODER]) {
    try {
      here.push(await inspect(name, places));
    } catch (error) {
      if (!(error instanceof InputError) || wanted) throw error;
      absent.push({ name, reason: await reasonOf(name, error, places) });
    }
  }
  const unwanted = wanted ? PAPER_ENCODERS.filter((name) => !wanted.includes(name)) : [];
  absent.push(...unwanted.map((name) => ({ name, reason: NOT_WANTED })));
  if (here.length > 0) return { here, absent };
  throw new InputError(
    { file: "--encoders" },
    "no encoder is available",
    "give --encoders hash, or --models DIR",
  );
}

/** Why an encoder is not available. The reason is for the report, so it names no folder of this machine. */
async function reasonOf(name: string, { problem }: InputError, { models }: EncoderPlaces) {
  if (knownModel(name) && !(await findModel(name, models))) {
    return `its weights are missing; joust models get ${name} downloads them`;
  }
  return problem;
}

async function inspect(name: string, places: EncoderPlaces): Promise<FoundEncoder> {
  if (name === "OpenAItext" && !places.openai.apiKey) {
    throw new InputError({ file: name }, "needs OPENAI_API_KEY", "set it");
  }
  const encoder = await openEncoder(name, places);
  try {
    const { kind, dimension, identity } = encoder;
    return { name, kind, dimension, ref: { name, identity }, epochs: epochsOf(encoder) };
  } finally {
    await encoder.close();
  }
}

/** The paper's E2 and E4 for transformers; the default of `joust fit` for others. */
function epochsOf(encoder: OpenEncoder): number[] {
  if (encoder.kind === "transformer") return [2, 4];
  const defaults = trainingDefaults(encoder);
  return defaults ? [defaults.epochs] : [];
}
