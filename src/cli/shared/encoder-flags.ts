/** The option --encoder, as every command that has it reads it. */
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheFolder, modelPlaces } from "../../core/encoder/common/find-model.ts";
import { ENCODER_NAMES, type EncoderPlaces } from "../../core/encoder/open-encoder.ts";

export const ENCODER_HELP = `text to vector: ${ENCODER_NAMES.join(", ")}, the folder of a model, or a bundle of joust fit; with :int8 behind a transformer or its bundle it runs in 8 bits, two to three times as fast and nearly the same; joust models lists what is here`;

/** `models` is a folder to look in before all others. */
export function encoderPlaces(models?: string): EncoderPlaces {
  const { env } = process;
  const home = homedir();
  return {
    models: modelPlaces(models, env, home),
    openai: { apiKey: env.OPENAI_API_KEY, baseUrl: env.OPENAI_BASE_URL },
    vectors: join(cacheFolder(env, home), "vectors"),
  };
}
