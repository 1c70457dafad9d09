/** The option --encoder, as every command that has it reads it. */
import { ENCODER_NAMES } from "../../core/encoder/open-encoder.ts";

export const ENCODER_HELP = `text to vector: ${ENCODER_NAMES.join(", ")}, the folder of a model, or a bundle of joust fit; with :int8 behind a transformer or its bundle it runs in 8 bits, two to three times as fast and nearly the same; joust models lists what is here`;
