import { encodeAll } from "../../../core/encoder/encode-all.ts";
import {
  type EncoderPlaces,
  type OpenEncoder,
  openEncoder,
} from "../../../core/encoder/open-encoder.ts";
import { InputError } from "../../../core/input/input-error.ts";
import type { Context, Result } from "../../jobs/job.ts";
import type { EncoderRef } from "./specs.ts";
import { vectorsResult } from "./vectors.ts";

/** One thread, so that the bits do not depend on the number of cores, and jobs do not compete. */
export function oneThread(places: EncoderPlaces): EncoderPlaces {
  return { ...places, threads: 1 };
}

/** Opens the encoder of that name; refuses other weights than those of the plan. */
export async function openRef(ref: EncoderRef, { places }: Context): Promise<OpenEncoder> {
  const encoder = await openEncoder(ref.name, oneThread(places));
  if (encoder.identity === ref.identity) return encoder;
  await encoder.close();
  throw new InputError(
    { file: ref.name },
    "has other weights on this machine than on the one that planned the work",
    "give all machines the same models",
  );
}

/** The vectors of the texts. Closes the encoder. */
export async function encodeTexts(
  encoder: OpenEncoder,
  texts: readonly string[],
  context: Context,
): Promise<Result> {
  try {
    const vectors = await encodeAll(encoder, texts, {
      onProgress: ({ done, total }) => context.check(done / total),
    });
    return vectorsResult(texts, vectors);
  } finally {
    await encoder.close();
  }
}
