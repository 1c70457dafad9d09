import { homedir } from "node:os";
import { join } from "node:path";
import { cacheFolder, modelPlaces } from "./common/find-model.ts";
import type { EncoderPlaces } from "./open-encoder.ts";

/** Default places of encoders. `models` is a folder that is searched first. */
export function encoderPlaces(models?: string): EncoderPlaces {
  const { env } = process;
  const home = homedir();
  return {
    models: modelPlaces(models, env, home),
    openai: { apiKey: env.OPENAI_API_KEY, baseUrl: env.OPENAI_BASE_URL },
    embeddingCache: join(cacheFolder(env, home), "vectors"),
  };
}
