/** The option --encoder, as every command that has it reads it. */
import { homedir } from "node:os";
import { modelPlaces } from "../encoder/find-model.ts";
import { ENCODER_NAMES, type EncoderPlaces } from "../encoder/open-encoder.ts";

export const ENCODER_HELP = `text to vector: ${ENCODER_NAMES.join(", ")}, the folder of a model, or a bundle of joust fit`;

/** `models` is a folder to look in before all others. */
export function encoderPlaces(models: string | undefined): EncoderPlaces {
  return { models: modelPlaces(models, process.env, homedir()) };
}
